/* SPDX-License-Identifier: MIT
 * bench_empty.c - the least that a process can do: the floor that rates are compared to */
int main(void)
{
	return 0;
}
