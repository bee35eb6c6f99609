/* The floor: what it costs the kernel to start and end a program that does nothing at all. */
int main(void) { return 0; }
