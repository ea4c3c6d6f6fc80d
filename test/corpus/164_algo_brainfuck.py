# A tape machine with precomputed jumps.
def run(program, data=""):
    jump, stack = {}, []
    for i, c in enumerate(program):
        if c == "[":
            stack.append(i)
        elif c == "]":
            j = stack.pop()
            jump[i], jump[j] = j, i
    tape, p, i, out, data = bytearray(64), 0, 0, "", list(data)
    while i < len(program):
        c = program[i]
        if c == ">":
            p += 1
        elif c == "<":
            p -= 1
        elif c == "+":
            tape[p] = (tape[p] + 1) & 255
        elif c == "-":
            tape[p] = (tape[p] - 1) & 255
        elif c == ".":
            out += chr(tape[p])
        elif c == ",":
            tape[p] = ord(data.pop(0)) if data else 0
        elif c == "[" and not tape[p] or c == "]" and tape[p]:
            i = jump[i]
        i += 1
    return out

print(run("++++++++[>++++++++<-]>+.+.+."))
print(run(",[.,]", "echo"))
print(run(">,>,[<+>-]<.", "!%"))
print(run("+++[>++++++++<-]>[>+>++<<-]>>---.<<++[>>+<<-]>>.", ""))
