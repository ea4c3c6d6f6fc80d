# Huffman codes: a tree by heap, encode, decode.
import heapq

def codes(text):
    freq = {}
    for c in text:
        freq[c] = freq.get(c, 0) + 1
    heap = [(n, c) for c, n in freq.items()]
    heapq.heapify(heap)
    while len(heap) > 1:
        n1, a = heapq.heappop(heap)
        n2, b = heapq.heappop(heap)
        heapq.heappush(heap, (n1 + n2, a + b))
        for group, bit in ((a, "0"), (b, "1")):
            for c in group:
                table[c] = bit + table.get(c, "")
    return freq

table = {}
text = "this is an example of a huffman tree"
freq = codes(text)
bits = "".join(table[c] for c in text)
print(len(text) * 8, len(bits))
back, cur = {v: k for k, v in table.items()}, ""
out = ""
for b in bits:
    cur += b
    if cur in back:
        out += back[cur]
        cur = ""
print(out == text, cur == "")
print(sorted(len(table[c]) for c in table))
