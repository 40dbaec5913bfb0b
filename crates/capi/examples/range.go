// Prints a range of a compressed file's text: go run range.go FILE.bz2 OFFSET LENGTH
package main

/*
#cgo pkg-config: hybz
#include <hybz.h>
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"os"
	"strconv"
	"unsafe"
)

// A call of the library: `error` is its last argument.
func check(call func(text *C.char) C.hybz_status) {
	var text [C.HYBZ_ERROR_SIZE]C.char
	if status := call(&text[0]); status < 0 {
		fmt.Fprintf(os.Stderr, "%s (%d)\n", C.GoString(&text[0]), status)
		os.Exit(1)
	}
}

// The file is decoded once, for its index. A pool is null: the process's own.
func open(path string) *C.hybz_reader {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var file *C.hybz_file
	check(func(text *C.char) C.hybz_status { return C.hybz_file_open(name, &file, text) })
	defer C.hybz_file_free(file)
	var reader *C.hybz_reader
	check(func(text *C.char) C.hybz_status { return C.hybz_reader_open(nil, file, nil, 0, &reader, text) })
	return reader
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: range FILE.bz2 OFFSET LENGTH")
		os.Exit(2)
	}
	offset, _ := strconv.ParseUint(os.Args[2], 10, 64)
	length, _ := strconv.ParseUint(os.Args[3], 10, 31)
	reader := open(os.Args[1])
	defer C.hybz_reader_free(reader)
	part := make([]byte, length+1) // an empty slice has no first byte
	var made C.size_t
	check(func(text *C.char) C.hybz_status {
		return C.hybz_reader_read(reader, C.uint64_t(offset), (*C.uint8_t)(&part[0]), C.size_t(length), &made, text)
	})
	os.Stdout.Write(part[:made])
}
