/* Runs a program to which the kernel refuses the call CALL: refuse_CALL ERRNO PROGRAM [ARGUMENT...] */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count < 3)
        return 2;
    unsigned error = (unsigned)atoi(words[1]) & SECCOMP_RET_DATA;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALL, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("seccomp");
        return 3;
    }
    /* The filter must be there, or the test would show nothing. */
    if (syscall(CALL, 0, "/", 0, 0, NULL) != -1 || errno != (int)error) {
        fprintf(stderr, "the call is not refused\n");
        return 4;
    }
    execvp(words[2], words + 2);
    perror(words[2]);
    return 5;
}
