// Compresses FILE, or decompresses FILE.bz2, to stdout (here with Mono): mcs Code.cs && mono Code.exe FILE
using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

static class Code {
    const int More = 1, Run = 0, Finish = 2; // HYBZ_MORE, HYBZ_RUN, HYBZ_FINISH
    static readonly byte[] error = new byte[256]; // HYBZ_ERROR_SIZE

    [DllImport("hybz")]
    static extern int hybz_pool_new(uint threads, int gpus, ulong memory, out IntPtr pool, byte[] error);
    [DllImport("hybz")]
    static extern void hybz_pool_free(IntPtr pool);
    [DllImport("hybz")]
    static extern int hybz_compress(
        IntPtr pool, int level, byte[] text, UIntPtr length, out IntPtr coded, out UIntPtr codedLength, byte[] error);
    [DllImport("hybz")]
    static extern void hybz_free(IntPtr bytes, UIntPtr length);
    [DllImport("hybz")]
    static extern int hybz_stream_decompress(IntPtr pool, out IntPtr stream, byte[] error);
    [DllImport("hybz")]
    static extern int hybz_stream_code(
        IntPtr stream, int action, ref byte input, UIntPtr inputLength, out UIntPtr taken,
        byte[] room, UIntPtr roomLength, out UIntPtr made, byte[] error);
    [DllImport("hybz")]
    static extern void hybz_stream_free(IntPtr stream);

    static void Check(int status) {
        if (status < 0) throw new IOException(Encoding.UTF8.GetString(error).Split('\0')[0] + " (" + status + ")");
    }

    // In one call, with bzip2 -9's bytes.
    static void Compress(IntPtr pool, byte[] text, Stream output) {
        Check(hybz_compress(pool, 9, text, (UIntPtr)text.Length, out IntPtr coded, out UIntPtr length, error));
        byte[] copy = new byte[(int)length];
        Marshal.Copy(coded, copy, 0, copy.Length);
        hybz_free(coded, length);
        output.Write(copy, 0, copy.Length);
    }

    // In pieces: files of any length.
    static void Decompress(IntPtr pool, Stream input, Stream output) {
        Check(hybz_stream_decompress(pool, out IntPtr stream, error));
        byte[] piece = new byte[1 << 16], room = new byte[1 << 18];
        for (int length = -1; length != 0;) {
            length = input.Read(piece, 0, piece.Length - 1); // one less: piece[length] is a byte, too
            for (int at = 0, status = More; status == More;) {
                status = hybz_stream_code(stream, length > 0 ? Run : Finish, ref piece[at], (UIntPtr)(length - at),
                    out UIntPtr taken, room, (UIntPtr)room.Length, out UIntPtr made, error);
                at += (int)taken;
                output.Write(room, 0, (int)made);
                Check(status);
            }
        }
        hybz_stream_free(stream);
    }

    static int Main(string[] arguments) {
        try {
            Check(hybz_pool_new(0, 0, 0, out IntPtr pool, error)); // a thread for each core
            using (Stream input = File.OpenRead(arguments[0]), output = Console.OpenStandardOutput()) {
                if (arguments[0].EndsWith(".bz2")) Decompress(pool, input, output);
                else Compress(pool, File.ReadAllBytes(arguments[0]), output);
            }
            hybz_pool_free(pool);
            return 0;
        } catch (IOException failed) {
            Console.Error.WriteLine(failed.Message);
            return 1;
        }
    }
}
