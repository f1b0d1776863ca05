/* Starts a program on a Cortex-M: the vector table, memory, the floating-point unit, main, and the end by semihosting,
 * by which an emulator or a debugger learns the exit code. For the board MPS2 that QEMU emulates; see mps2.ld. */
#include <stdint.h>
#include <stdlib.h>

extern uint32_t data_source[], data_start[], data_end[], bss_start[], bss_end[], stack_top[];
int main(void);
void initialise_monitor_handles(void);

static void stop(void)
{
    for (;;) {
    }
}

static void start(void)
{
    uint32_t *from = data_source;
    uint32_t *to;
    for (to = data_start; to < data_end; ++to) {
        *to = *from;
        ++from;
    }
    for (to = bss_start; to < bss_end; ++to) {
        *to = 0U;
    }
#if defined(__ARM_FP)
    *(volatile uint32_t *)0xE000ED88U |= 0xFU << 20; /* CPACR: full access to the floating-point unit */
    __asm volatile("dsb\n\tisb");
#endif
    initialise_monitor_handles();
    exit(main());
}

void _init(void)
{
}

void _fini(void)
{
}

typedef void (*handler)(void);

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    handler handlers[15];
} vectors = {stack_top, {start, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop}};
