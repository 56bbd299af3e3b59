// Verifies an audit export of Quita, or proofs of single entries. It needs Node 22 or newer, no packages, and no code of Quita.
//   node verify.mjs <export> [--key <public key>]… [--checkpoint <file>]…, or --proof <file>… --key <public key>…
// Prints each fault with the index of the entry in the log, and exits with 1 if there is one, else with 0.
// Formats: Merkle tree of RFC 6962; tlog-tiles, tlog-checkpoint, signed-note and tlog-proof of c2sp.org.
import { createPublicKey, hash, verify } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';

const sha256 = (bytes) => hash('sha256', bytes, 'buffer');
const leafOf = (latin1) => sha256(Buffer.from(`\0${latin1}`, 'latin1'));
const nodeOf = (left, right) => sha256(Buffer.concat([Buffer.of(1), left, right], 65));
const unbase64 = (text) => Buffer.from(Buffer.from(text, 'base64').toString('base64') === text ? text : '', 'base64'); // '' if malformed
const isText = (one) => typeof one === 'string';
const isPlain = (one) => one === null || (isText(one) && /^[\w:.-]+$/.test(one));
const escaped = (one) => `\\u${one.charCodeAt().toString(16).padStart(4, '0')}`;
/** Escapes, as JSON does, characters that could control a terminal or begin a line. */
export const printable = (text) => text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_C}]/gu, escaped);
/** Returns the object in a JSON text; an empty one if it is malformed or something else. */
const parsed = (text) => new Promise((done) => done(Object(JSON.parse(text)))).catch(() => ({}));

/** Reads a public key, `<name>+<id>+<base64>`. Throws if it is malformed. */
const parseKey = (text) => {
  const [, name, id, base64 = ''] = /^([!-*,-~]+)\+([0-9a-f]{8})\+([!-~]+)$/.exec(text) ?? [];
  const typed = unbase64(base64);
  const expected = sha256(Buffer.concat([Buffer.from(`${name}\n`), typed])).toString('hex', 0, 4);
  if (typed.length !== 33 || typed[0] !== 1 || id !== expected) throw new Error(`malformed public key: ${text}`);
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: typed.toString('base64url', 1) };
  return { name, id, key: createPublicKey({ format: 'jwk', key: jwk }) };
};

/** Returns origin, size and root of a checkpoint, or null unless a trusted key signed it. */
const openCheckpoint = (note, keys) => {
  const form = /^(([!-~]+)\n(0|[1-9]\d{0,14})\n([!-~]{44})\n(?:[^\n]+\n)*)\n((?:— [^ \n]+ [^ \n]+\n)+)$/;
  const [, text, origin, size, root, signatures = ''] = form.exec(note) ?? [];
  const verdicts = [...signatures.matchAll(/— ([!-~]+) ([!-~]+)\n/g)].flatMap(([, name, base64]) => {
    const signed = unbase64(base64);
    const trusted = keys.filter((one) => one.name === name && one.id === signed.toString('hex', 0, 4));
    return trusted.map(({ key }) => name === origin && verify(null, Buffer.from(text), key, signed.subarray(4)));
  });
  return verdicts.length > 0 && !verdicts.includes(false) ? { origin, size: Number(size), root: unbase64(root) } : null;
};

/** Faults in order. Equal faults of neighbouring entries become one. */
class Faults extends Array {
  add(text, from = null, to = from) {
    const last = this.at(-1);
    if (last?.text === text && last.to === from - 1) last.to = to;
    else this.push({ text, from: from <= to ? from : null, to });
  }
}
const placeOf = ({ from, to }) => (from === to ? `entry ${from}: ` : `entries ${from} to ${to}: `);

/** Yields the lines of a file, a character for each byte. Holds only a part of the file in memory. */
async function* linesOf(path) {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'latin1', highWaterMark: 1 << 18 })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** Returns a function that returns a hash of the tree, if its tile has the right length, and the path of the tile. */
const tilesIn = (folder, size) => {
  const latest = []; // of each level
  return (level, index) => {
    const tile = Math.floor(index / 256);
    if (latest[level]?.tile !== tile) {
      const width = Math.min(256, Math.floor(size / 256 ** level) - tile * 256);
      const digits = String(tile).padStart(Math.ceil(String(tile).length / 3) * 3, '0');
      const path = `tile/${level}/${digits.replace(/\d{3}(?=\d)/g, 'x$&/')}${width < 256 ? `.p/${width}` : ''}`;
      const isFile = statSync(join(folder, path), { throwIfNoEntry: false })?.isFile();
      const bytes = isFile ? readFileSync(join(folder, path)) : null;
      latest[level] = { tile, path, bytes: bytes?.length === width * 32 ? bytes : null };
    }
    return { ...latest[level], hash: latest[level].bytes?.subarray((index % 256) * 32, (index % 256) * 32 + 32) };
  };
};

/** Compares the entries with the leaves, and the two around the period with its bounds. Returns the number of those in the period. */
const checkEntries = async (folder, { account, first, end, from, to, begin, stop }, tile, faults) => {
  let [next, count, revisions] = [begin, 0, new Map()];
  for await (const line of linesOf(join(folder, 'entries.ndjson'))) {
    const [, entry = '', digits = next] = /^\{"entry":(.*),"index":(0|[1-9]\d{0,14})\}$/s.exec(line) ?? [];
    const index = Number(digits);
    const isExpected = index >= next && index < stop;
    const isGenuine = isExpected && tile(0, index).hash?.equals(leafOf(entry));
    const isGap = isExpected && index > next && account === null;
    if (isGap) faults.add('missing', next, index - 1);
    if (!isGenuine || isGap) revisions = new Map(); // of each stream since then
    if (isExpected) [next, count] = [index + 1, count + Number(index >= first && index < end)];
    const { metadata, recordedAt, revision, stream } = isGenuine ? await parsed(entry) : {};
    const isFact = [recordedAt, stream].every(isText) && Number.isSafeInteger(revision) && revision >= 0;
    const bad = isExpected ? 'not as in the tree' : 'repeated, out of order or outside the export';
    if (!isFact) faults.add(isGenuine ? 'malformed' : bad, index);
    if (!isFact) continue;
    const isExcluded = index < first ? !(recordedAt < from) : index >= end && !(recordedAt >= to);
    if (isExcluded) faults.add('recorded in the period, but excluded by manifest.json', index);
    if (account !== null && metadata?.account !== account) faults.add('of another account', index);
    const before = revisions.get(stream) ?? revision - 1;
    if (revision !== before + 1) faults.add(`revision ${revision} of its stream follows revision ${before}`, index);
    revisions.set(stream, revision);
  }
  if (next < stop && account === null) faults.add('missing', next, stop - 1);
  return count;
};

/** Builds the tree from its leaves and compares it with the tiles above them. Returns its roots at the given sizes. */
const checkTree = (size, sizes, tile, faults) => {
  const [roots, left] = [new Map([[0, sha256('')]]), []]; // left: the whole subtrees to the left of the next leaf, largest first
  for (let index = 0; index < size; index++) {
    let [{ path, hash: root }, leaves] = [tile(0, index), 1];
    if (root === undefined) return faults.add(`${path} is missing or has a wrong length`, index, size - 1) ?? roots;
    while (left.at(-1)?.leaves === leaves) {
      [root, leaves] = [nodeOf(left.pop().root, root), leaves * 2];
      const level = Math.log2(leaves) / 8;
      const above = Number.isInteger(level) ? tile(level, (index + 1) / leaves - 1) : { hash: root };
      if (!above.hash?.equals(root)) faults.add(`${above.path} differs from the leaves`, index + 1 - leaves, index);
    }
    left.push({ leaves, root });
    const joined = () => left.map((one) => one.root).reduceRight((right, one) => nodeOf(one, right));
    if (sizes.has(index + 1)) roots.set(index + 1, joined());
  }
  return roots;
};

/** Verifies an export. Without keys, trusts those that the export names. Returns the faults and what was verified. */
export const verifyExport = async (folder, { keys = [], checkpoints = [] } = {}) => {
  const [faults, signed] = [new Faults(), []];
  const manifest = await parsed(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const { format, origin, keys: named, account, from, to, first, end, size, ...others } = manifest;
  const isInOrder = [0, first, end, size, 2 ** 48].every((one, n, all) => Number.isInteger(one) && !(one < all[n - 1]));
  const isFlat = !Object.values(others).some((one) => one instanceof Object); // nothing is too deep for Python
  const areTexts = [account, from, to].every(isPlain) && Array.isArray(named) && [origin, ...named].every(isText);
  if (format !== 'quita-audit-export/2' || !isInOrder || !isFlat || !areTexts || (to === null && end < size))
    throw new Error('manifest.json is not of the format quita-audit-export/2; export again');
  const trusted = (keys.length === 0 ? named : keys).map(parseKey);
  const own = readdirSync(join(folder, 'checkpoints')).map((name) => join(folder, 'checkpoints', name));
  for (const file of [...own.toSorted(), ...checkpoints]) {
    const checkpoint = openCheckpoint(readFileSync(file, 'utf8'), trusted);
    if (checkpoint?.origin === origin) signed.push({ ...checkpoint, by: Number(checkpoints.includes(file)) });
    else faults.add(`checkpoint ${basename(file)} is not signed by a trusted key of ${origin}`);
  }
  const [begin, stop] = account === null ? [Math.max(0, first - 1), Math.min(size, end + 1)] : [first, end];
  const count = await checkEntries(folder, { ...manifest, begin, stop }, tilesIn(folder, size), faults);
  const roots = checkTree(size, new Set(signed.map((one) => one.size)), tilesIn(folder, size), faults);
  const [proven, wasBad] = [[0, 0], []]; // by the export's own checkpoints, and by the given ones
  for (const { size: signedSize, root, by } of signed.toSorted((one, other) => one.size - other.size)) {
    const isGood = roots.get(signedSize)?.equals(root) ?? false;
    if (isGood) proven[by] = signedSize;
    else if (signedSize > size) faults.add('missing from the tree', size, signedSize - 1);
    else if (!wasBad[by]) faults.add(`not as signed in checkpoint ${signedSize}`, proven[by], signedSize - 1);
    wasBad[by] = !isGood;
  }
  if (Math.max(...proven) < stop) faults.add('covered by no trusted checkpoint', Math.max(...proven), stop - 1);
  const entries = first === end ? 'no entries' : `${count} entries from index ${first} to ${end - 1}`;
  const period = `period: ${from ?? 'first entry'} to ${end < size ? to : 'newest checkpoint'}`;
  const one = `not proved; only account ${account}, ${end - first - count} entries of others skipped`;
  const summary = `${entries} of ${origin}, in the tree of size ${size}; ${period}${account === null ? '; all accounts' : `, ${one}`}`;
  return { faults: Array.from(faults, (fault) => (fault.from === null ? '' : placeOf(fault)) + fault.text), summary };
};

/** Returns the root that an inclusion proof leads to (RFC 6962, 2.1.1). */
const provenRoot = (leaf, index, size, path) => {
  const [sibling, rest] = [path.at(-1), path.slice(0, -1)];
  if (size < 2 || sibling === undefined) return index === 0 && size === 1 && sibling === undefined ? leaf : sha256('');
  const middle = 2 ** Math.floor(Math.log2(size - 1));
  if (index < middle) return nodeOf(provenRoot(leaf, index, middle, rest), sibling);
  return nodeOf(sibling, provenRoot(leaf, index - middle, size - middle, rest));
};

/** Verifies the proof that an entry is in the tree. Throws if it is not one. */
export const verifyProof = async (file, keys) => {
  const form = /^c2sp\.org\/tlog-proof@v1\nextra ([!-~]+)\nindex (0|[1-9]\d{0,14})\n((?:[!-~]{44}\n)*)\n([\s\S]+)$/;
  const [, extra, index, path, note] = form.exec(readFileSync(file, 'utf8')) ?? [];
  const checkpoint = openCheckpoint(note ?? '', keys.map(parseKey));
  if (checkpoint === null) throw new Error(note ? 'a checkpoint of a trusted key is missing' : 'malformed proof');
  const [entry, hashes] = [unbase64(extra), path.split('\n').slice(0, -1).map(unbase64)];
  const found = provenRoot(leafOf(entry.toString('latin1')), Number(index), checkpoint.size, hashes);
  if (!found.equals(checkpoint.root)) throw new Error(`entry ${index} is not in the tree that was signed`);
  return { faults: [], summary: `entry ${index} of ${checkpoint.origin}, tree of size ${checkpoint.size}: ${entry}` };
};

if (realpathSync(process.argv[1] ?? '.') === import.meta.filename) {
  const any = { type: 'string', multiple: true, default: [] };
  const given = parseArgs({ allowPositionals: true, options: { key: any, checkpoint: any, proof: any } });
  const { key: keys, checkpoint: checkpoints, proof: proofs } = given.values;
  if (given.positionals.length + proofs.length === 0) throw new Error('name an export or --proof <file>');
  if (keys.length === 0) console.log('warning: trusts the public keys that the export names; better pass --key');
  for (const one of [...given.positionals, ...proofs]) {
    const result = proofs.includes(one) ? verifyProof(one, keys) : verifyExport(one, { keys, checkpoints });
    const { faults, summary } = await result.catch(({ message }) => ({ faults: [`${one}: ${message}`] }));
    const lines = faults.map((text) => `fault: ${printable(text)}`);
    console.log(lines.join('\n') || `verified: ${printable(summary)}`);
    process.exitCode ||= Number(lines.length > 0);
  }
}
