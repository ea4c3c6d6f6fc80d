# Reading comma-separated and sectioned text.
def parse_csv(line):
    out, cur, quoted, i = [], "", False, 0
    while i < len(line):
        c = line[i]
        if quoted:
            if c == '"' and line[i + 1:i + 2] == '"':
                cur += '"'
                i += 1
            elif c == '"':
                quoted = False
            else:
                cur += c
        elif c == '"':
            quoted = True
        elif c == ",":
            out.append(cur)
            cur = ""
        else:
            cur += c
        i += 1
    return out + [cur]

for line in ('a,b,c', '1,"two, too",3', '"say ""hi""",,x', ''):
    print(parse_csv(line))

def parse_ini(text):
    section, out = "main", {}
    for n, raw in enumerate(text.split("\n"), 1):
        line = raw.split("#")[0].strip()
        if not line:
            continue
        if line[0] == "[" and line[-1] == "]":
            section = line[1:-1]
        elif "=" in line:
            k, _, v = line.partition("=")
            out.setdefault(section, {})[k.strip()] = v.strip()
        else:
            print("line", n, "not understood:", line)
    return out

ini = parse_ini("top = 1\n[net]\nhost = h1 # comment\nport=80\nbroken\n[pins]\nled = 5")
for s in sorted(ini):
    print(s, sorted(ini[s].items()))
