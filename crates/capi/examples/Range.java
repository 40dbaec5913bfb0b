import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** Prints a range of a compressed file's text (Java 22): java Range.java LIBHYBZ.SO FILE.bz2 OFFSET LENGTH */
public class Range {
    private static final MemorySegment NULL = MemorySegment.NULL;
    private final SymbolLookup library;
    private final MemorySegment error;

    private Range(String path, Arena arena) {
        library = SymbolLookup.libraryLookup(path, arena);
        error = arena.allocate(256); // HYBZ_ERROR_SIZE
    }

    private MethodHandle function(String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(library.find(name).orElseThrow(), type);
    }

    /** Calls a function whose result is a hybz_status and whose last argument is the room for an error. */
    private void call(String name, Object... arguments) throws Throwable {
        MemoryLayout[] types = new MemoryLayout[arguments.length + 1];
        Object[] all = new Object[arguments.length + 1];
        for (int i = 0; i <= arguments.length; i++) {
            all[i] = i < arguments.length ? arguments[i] : error;
            types[i] = all[i] instanceof Long ? JAVA_LONG : ADDRESS;
        }
        int status = (int) function(name, FunctionDescriptor.of(JAVA_INT, types)).invokeWithArguments(all);
        if (status < 0) {
            throw new IllegalStateException(error.getString(0) + " (" + status + ")");
        }
    }

    private void free(String name, MemorySegment handle) throws Throwable {
        function(name, FunctionDescriptor.ofVoid(ADDRESS)).invokeWithArguments(handle);
    }

    public static void main(String[] arguments) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            Range hybz = new Range(arguments[0], arena);
            MemorySegment out = arena.allocate(ADDRESS);
            hybz.call("hybz_file_open", arena.allocateFrom(arguments[1]), out);
            MemorySegment file = out.get(ADDRESS, 0);
            // The file is decoded once, for its index. The pool is null: the process's own.
            hybz.call("hybz_reader_open", NULL, file, NULL, 0L, out);
            MemorySegment reader = out.get(ADDRESS, 0);
            hybz.free("hybz_file_free", file);
            long length = Long.parseLong(arguments[3]);
            MemorySegment part = arena.allocate(length);
            MemorySegment made = arena.allocate(JAVA_LONG);
            hybz.call("hybz_reader_read", reader, Long.parseLong(arguments[2]), part, length, made);
            System.out.write(part.asSlice(0, made.get(JAVA_LONG, 0)).toArray(JAVA_BYTE));
            System.out.flush();
            hybz.free("hybz_reader_free", reader);
        }
    }
}
