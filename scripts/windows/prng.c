/* bcryptprimitives.dll, which Wine lacks before version 9 and the wheels written in Rust ask for. */
#include <stddef.h>
__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *buffer, unsigned long size);
__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *data, size_t size) {
    return SystemFunction036(data, (unsigned long)size);
}
