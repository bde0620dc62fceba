/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptcount FILE...: raw Intel PT, one queue a file, through libipt's packet decoder. Prints what
 * it found; exit 0 when every byte is of a packet that libipt knows, 1 when not, 2 usage.
 */
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>

static uint8_t *load(const char *name, size_t *len)
{
	FILE *f = fopen(name, "rb");
	uint8_t *p = NULL;

	if (f && !fseek(f, 0, SEEK_END)) {
		*len = (size_t)ftell(f);
		rewind(f);
		p = malloc(*len + 1);
		if (p && fread(p, 1, *len, f) != *len) {
			free(p);
			p = NULL;
		}
	}
	if (f)
		fclose(f);
	return p;
}

static int count(const char *name)
{
	unsigned long long packets = 0, ptw = 0, psb = 0;
	struct pt_packet_decoder *d;
	struct pt_config c;
	struct pt_packet k;
	uint64_t at = 0;
	size_t len;
	uint8_t *p = load(name, &len);
	int err;

	if (!p)
		return perror(name), 1;
	pt_config_init(&c);
	c.begin = p;
	c.end = p + len;
	d = pt_pkt_alloc_decoder(&c);
	err = d ? pt_pkt_sync_set(d, 0) : -pte_nomem;
	while (err >= 0 && (err = pt_pkt_next(d, &k, sizeof(k))) > 0) {
		packets++;
		ptw += k.type == ppt_ptw;
		psb += k.type == ppt_psb;
	}
	if (d)
		pt_pkt_get_offset(d, &at);
	pt_pkt_free_decoder(d);
	free(p);
	printf("%s: packets=%llu ptw=%llu psb=%llu\n", name, packets, ptw, psb);
	if (err == -pte_eos)
		return 0;
	printf("%s: %s at offset %llu\n", name, pt_errstr(pt_errcode(err)),
	       (unsigned long long)at);
	return 1;
}

int main(int argc, char **argv)
{
	int bad = 0;

	if (argc < 2)
		return 2;
	for (int i = 1; i < argc; i++)
		bad |= count(argv[i]);
	return bad;
}
