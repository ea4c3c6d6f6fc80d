# Formatted string literals.
name, n, pi = "board", 7, 3.14159
print(f"{name} {n} {pi:.2f}")
print(f"{name!r} {n:03d} {n*2} {n if n > 5 else 'small'}")
print(f"{{not}} {name.upper()} {len(name)}")
print(f"{'nested'} {[i for i in range(3)]} {max(1, 2)}")
print(f"{n:>5}|{n:<5}|{n:^5}|{n:x}|{n:b}")
print(f"{name:>10}|{name:.3}")
print(f"a{1}" + "c{3}")
print(f"""multi
{n}
end""")
w = 6
print(f"{n:{w}d}|")
