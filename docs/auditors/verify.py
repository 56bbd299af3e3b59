"""Verifies an audit export of Quita, or proofs of single entries. It needs Python 3.9 or newer, no packages, and no code of Quita.
    python3 verify.py <export> [--key <public key>]... [--checkpoint <file>]...
    python3 verify.py --proof <file>... --key <public key>...
Prints each fault with the index of the entry in the log, and exits with 1 if there is one, else with 0.
Formats: Merkle tree of RFC 6962; tlog-tiles, tlog-checkpoint, signed-note and tlog-proof of c2sp.org.
"""
import argparse, base64, hashlib, json, pathlib, re, sys

def hash_of(*parts):
    return hashlib.sha256(b"".join(parts)).digest()
def printable(text):  # escapes, as JSON does, characters that could control a terminal or begin a line
    forbidden = r"[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
    return re.sub(forbidden, lambda one: f"\\u{ord(one[0]):04x}", text)
def parse(text):  # the object in a JSON text, with JavaScript's numbers; an empty one if it is malformed or something else
    number = lambda one: int(float(one)) if float(one).is_integer() else float(one)
    try: found = json.loads(text, parse_int=number, parse_float=number, parse_constant=int)  # int rejects NaN
    except (ValueError, RecursionError): found = {}
    return found if type(found) is dict else {}

def unbase64(text):  # malformed base64 has no bytes, and so the wrong length or hash everywhere
    found = base64.b64decode(text) if re.fullmatch(r"(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?", text, re.A) else b""
    return found if base64.b64encode(found).decode() == text else b""

# Ed25519 (RFC 8032). A point is (x, y, z, t) in extended coordinates modulo P.
P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P

def add(one, other):
    (a, b, c, d), (e, f, g, h) = one, other
    m, n, o, p = (b - a) * (f - e) % P, (b + a) * (f + e) % P, 2 * d * h * D % P, 2 * c * g % P
    return (n - m) * (p - o) % P, (p + o) * (n + m) % P, (p - o) * (p + o) % P, (n - m) * (n + m) % P

def point_of(packed):
    y = int.from_bytes(packed, "little") % 2**255
    xx = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(xx, (P + 3) // 8, P)
    x = x if x * x % P == xx else x * pow(2, (P - 1) // 4, P) % P
    x = x if x & 1 == packed[31] >> 7 else P - x
    return x, y, 1, x * y % P

BASE = point_of((4 * pow(5, -1, P) % P).to_bytes(32, "little"))

def is_signed(key, text, signature):
    s, k = (int.from_bytes(one, "little") for one in (signature[32:], hashlib.sha512(signature[:32] + key + text).digest()))
    (x, y, _, t), k, total = point_of(key), k % ORDER, (0, 1, 1, 0)
    terms = [[total, (P - x, y, 1, P - t)], [BASE, add(BASE, (P - x, y, 1, P - t))]]
    for bit in reversed(range(253)):  # s * base - k * key, with which a valid signature begins
        total = add(add(total, total), terms[s >> bit & 1][k >> bit & 1])
    x, y = (one * pow(total[2], -1, P) % P for one in total[:2])
    return len(signature) == 64 and s < ORDER and (y | (x & 1) << 255).to_bytes(32, "little") == signature[:32]

def parse_key(text):
    """Reads a public key, `<name>+<id>+<base64>`, as name, id and bytes. Raises ValueError if it is malformed."""
    found = re.fullmatch(r"([!-*,-~]+)\+([0-9a-f]{8})\+([!-~]+)", text)
    typed = unbase64(found[3]) if found else b""
    if len(typed) != 33 or typed[0] != 1 or found[2] != hash_of(found[1].encode(), b"\n", typed).hex()[:8]:
        raise ValueError(f"malformed public key: {text}")
    return found[1], found[2], typed[1:]

def open_checkpoint(note, keys):
    """Returns origin, size and root of a checkpoint, or None unless a trusted key signed it."""
    form = r"\A(([!-~]+)\n(0|[1-9][0-9]{0,14})\n([!-~]{44})\n(?:[^\n]+\n)*)\n((?:— [^ \n]+ [^ \n]+\n)+)\Z"
    text, origin, size, root, signatures = (*re.findall(form, note), [""] * 5)[0]
    signed = [(name, unbase64(encoded)) for name, encoded in re.findall(r"— ([!-~]+) ([!-~]+)\n", signatures)]
    trusted = [(key, name, one[4:]) for name, one in signed for *known, key in keys if known == [name, one[:4].hex()]]
    is_valid = trusted and all(name == origin and is_signed(key, text.encode(), one) for key, name, one in trusted)
    return (origin, int(size), unbase64(root)) if is_valid else None

class Faults(list):  # (text, from, to); equal faults of neighbouring entries become one
    def add(self, text, start=None, to=None):
        to = start if to is None else to
        is_next = self and start is not None and self[-1][0] == text and self[-1][2] == start - 1
        self.append((text, self.pop()[1] if is_next else start if start is None or start <= to else None, to))

def tiles_in(folder, size):
    """Returns a function that returns a hash of the tree, if its tile has the right length, and the path of the tile."""
    latest = {}  # of each level
    def tile(level, index):
        number = index // 256
        if latest.get(level, "-")[0] != number:
            width = min(256, size // 256**level - number * 256)
            digits = re.sub(r"\d{3}(?=\d)", r"x\g<0>/", str(number).zfill(-(-len(str(number)) // 3) * 3))
            path = f"tile/{level}/{digits}{f'.p/{width}' if width < 256 else ''}"
            found = (folder / path).read_bytes() if (folder / path).is_file() else b""
            latest[level] = number, path, found if len(found) == 32 * width else b""
        _, path, found = latest[level]
        return found[index % 256 * 32 : index % 256 * 32 + 32], path
    return tile

def check_entries(folder, account, period, after, last, tile, faults):
    """Compares the entries with the leaves, and the two around the period with its bounds. Returns the number of those in the period."""
    (start, stop, first, end), count, revisions = period, 0, {}
    for line in open(folder / "entries.ndjson", "rb"):
        found = re.fullmatch(rb'\{"entry":(.*),"index":(0|[1-9][0-9]{0,14})\}\n?', line)
        index, entry = (int(found[2]), found[1]) if found else (after, b"")
        is_expected = after <= index < last
        is_genuine = is_expected and tile(0, index)[0] == hash_of(b"\0", entry)
        is_gap = is_expected and index > after and account is None
        if is_gap: faults.add("missing", after, index - 1)
        revisions = revisions if is_genuine and not is_gap else {}  # of each stream since then
        after, count = index + 1 if is_expected else after, count + (is_expected and first <= index < end)
        fact = parse(entry.decode("latin1")) if is_genuine else {}
        at, stream, revision = fact.get("recordedAt"), fact.get("stream"), fact.get("revision")
        is_fact = [type(one) for one in (at, stream, revision)] == [str, str, int] and 0 <= revision < 2**53
        bad = "malformed" if is_genuine else "not as in the tree" if is_expected else "repeated, out of order or outside the export"
        if not is_fact: faults.add(bad, index)
        if not is_fact: continue
        is_excluded = not at < (start or "") if index < first else index >= end and not at >= (stop or "~")
        if is_excluded: faults.add("recorded in the period, but excluded by manifest.json", index)
        metadata = fact.get("metadata") if type(fact.get("metadata")) is dict else {}
        if account is not None and metadata.get("account") != account: faults.add("of another account", index)
        before = revisions.get(stream, revision - 1)
        if revision != before + 1: faults.add(f"revision {revision} of its stream follows revision {before}", index)
        revisions[stream] = revision
    if after < last and account is None: faults.add("missing", after, last - 1)
    return count

def check_tree(size, sizes, tile, faults):
    """Builds the tree from its leaves and compares it with the tiles above them. Returns its roots at the given sizes."""
    roots, levels = {0: hash_of()}, {256**level: level for level in range(1, 6)}
    left = []  # the whole subtrees to the left of the next leaf, largest first
    for index in range(size):
        (root, path), leaves = tile(0, index), 1
        if not root: return faults.add(f"{path} is missing or has a wrong length", index, size - 1) or roots
        while left and left[-1][0] == leaves:
            root, leaves = hash_of(b"\1", left.pop()[1], root), leaves * 2
            above, path = tile(levels[leaves], (index + 1) // leaves - 1) if leaves in levels else (root, path)
            if above != root: faults.add(f"{path} differs from the leaves", index + 1 - leaves, index)
        left.append((leaves, root))
        if index + 1 in sizes:
            for _, before in left[-2::-1]: root = hash_of(b"\1", before, root)
            roots[index + 1] = root
    return roots

def verify_export(folder, keys, checkpoints):
    """Verifies an export. Without keys, trusts those that the export names. Returns the faults and what was verified."""
    faults, signed, manifest = Faults(), [], parse((folder / "manifest.json").read_bytes().decode(errors="replace"))
    form, origin, named, account, start, stop, first, end, size = (
        manifest.pop(name, False) for name in ("format", "origin", "keys", "account", "from", "to", "first", "end", "size"))
    is_text = type(named) is list and all(type(one) is str for one in [origin, *named])
    is_plain = all(one is None or type(one) is str and re.fullmatch(r"[\w:.-]+", one, re.A) for one in (account, start, stop))
    is_in_order = {int} == {type(one) for one in (first, end, size)} and 0 <= first <= end <= size <= 2**48
    is_flat = not any(type(one) in (dict, list) for one in manifest.values())  # nothing is too deep to be parsed
    if form != "quita-audit-export/2" or not (is_text and is_plain and is_in_order and is_flat) or stop is None and end < size:
        raise ValueError("manifest.json is not of the format quita-audit-export/2; export again")
    trusted = [parse_key(key) for key in keys or named]
    for file in sorted((folder / "checkpoints").iterdir()) + checkpoints:
        found = open_checkpoint(file.read_bytes().decode(errors="replace"), trusted)
        if found and found[0] == origin: signed.append((*found[1:], file in checkpoints))
        else: faults.add(f"checkpoint {file.name} is not signed by a trusted key of {origin}")
    begin, last = (max(0, first - 1), min(size, end + 1)) if account is None else (first, end)
    count = check_entries(folder, account, (start, stop, first, end), begin, last, tiles_in(folder, size), faults)
    roots = check_tree(size, {one for one, *_ in signed}, tiles_in(folder, size), faults)
    proven, is_good = [0, 0], [True, True]  # by the export's own checkpoints, and by the given ones
    for one, root, by in sorted(signed, key=lambda one: one[0]):
        was_good, is_good[by] = is_good[by], roots.get(one) == root
        if one > size: faults.add("missing from the tree", size, one - 1)
        elif was_good and not is_good[by]: faults.add(f"not as signed in checkpoint {one}", proven[by], one - 1)
        proven[by] = one if is_good[by] else proven[by]
    if max(proven) < last: faults.add("covered by no trusted checkpoint", max(proven), last - 1)
    entries = "no entries" if first == end else f"{count} entries from index {first} to {end - 1}"
    period = f"period: {'first entry' if start is None else start} to {stop if end < size else 'newest checkpoint'}"
    one = f"not proved; only account {account}, {end - first - count} entries of others skipped"
    summary = f"{entries} of {origin}, in the tree of size {size}; {period}{'; all accounts' if account is None else f', {one}'}"
    return [("" if a is None else f"entry {a}: " if a == b else f"entries {a} to {b}: ") + text for text, a, b in faults], summary

def proven_root(leaf, index, size, path):  # the root that an inclusion proof leads to (RFC 6962, 2.1.1)
    if size < 2 or not path: return leaf if (index, size, path) == (0, 1, []) else b""
    middle = 1 << (size - 1).bit_length() - 1
    if index < middle: return hash_of(b"\1", proven_root(leaf, index, middle, path[:-1]), path[-1])
    return hash_of(b"\1", path[-1], proven_root(leaf, index - middle, size - middle, path[:-1]))

def verify_proof(file, keys, _):
    """Verifies the proof that an entry is in the tree. Raises ValueError if it is not one."""
    form = r"c2sp\.org/tlog-proof@v1\nextra ([!-~]+)\nindex (0|[1-9][0-9]{0,14})\n((?:[!-~]{44}\n)*)\n([\s\S]+)"
    found = re.fullmatch(form, file.read_bytes().decode(errors="replace"))
    checkpoint = open_checkpoint(found[4], [parse_key(key) for key in keys]) if found else None
    if not checkpoint: raise ValueError("a checkpoint of a trusted key is missing" if found else "malformed proof")
    (origin, size, root), entry, index = checkpoint, unbase64(found[1]), int(found[2])
    if proven_root(hash_of(b"\0", entry), index, size, [unbase64(one) for one in found[3].split()]) != root:
        raise ValueError(f"entry {index} is not in the tree that was signed")
    return [], f"entry {index} of {origin}, tree of size {size}: {entry.decode(errors='replace')}"

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Verifies an audit export of Quita, or proofs of single entries.")
    parser.add_argument("exports", nargs="*", type=pathlib.Path)
    for name, kind in ("--key", str), ("--checkpoint", pathlib.Path), ("--proof", pathlib.Path):
        parser.add_argument(name, action="append", default=[], type=kind)
    given = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    if not given.exports + given.proof: parser.error("name an export or --proof <file>")
    if not given.key: print("warning: trusts the public keys that the export names; better pass --key")
    failed = False
    for one in given.exports + given.proof:
        try: found, summary = (verify_proof if one in given.proof else verify_export)(one, given.key, given.checkpoint)
        except Exception as error: found = [f"{one}: {error}"]
        print("\n".join(printable(f"fault: {text}") for text in found) or printable(f"verified: {summary}"))
        failed = failed or bool(found)
    sys.exit(failed)
