// Makes a recording of the examples reproducible by replacing random values and real times.
import { createHash } from 'node:crypto';

const SHOWN_CHARACTERS = 64;

const uuidOf = (digest: string): string => digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');

const vkeyEndOf = (digest: string): string => `${digest.slice(0, 8)}+A${digest.slice(8, 51)}`;

/** Replaces random values with stable ones and cuts long Base64, so that examples stay readable. */
export const steadied = <Recorded>(recorded: Recorded, receiverUrl: string): Recorded => {
  const seen = new Map<string, string>();
  const stable = (text: string, make: (digest: string) => string): string => {
    const known = seen.get(text) ?? make(createHash('sha256').update(`example ${seen.size}`).digest('hex'));
    seen.set(text, known);
    return known;
  };
  const text = JSON.stringify(recorded)
    .replaceAll(receiverUrl, 'https://shop.example/webhooks')
    .replaceAll(/"eyJ[\w.-]+"/g, '"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIs…"')
    .replaceAll(/token=eyJ[\w.-]+/g, 'token=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIs…')
    .replaceAll(/\b(we|wd|evt|usr|log|key|acct|mev|med)_[0-9a-hjkmnp-tv-z]{26}/g, (id, prefix) =>
      stable(id, (digest) => `${prefix}_${digest.slice(0, 26)}`),
    )
    .replaceAll(
      /"password":"([\w-]{24})"/g,
      (_, made) => `"password":"${stable(made, (digest) => digest.slice(0, 24))}"`,
    )
    // Equal beginnings stay equal, because the prefix of a key is shown elsewhere.
    .replaceAll(
      /"(ak_(?:test|live)_)([\w-]{4})([\w-]{28})?"/g,
      (_, kind, shown, rest) =>
        `"${kind}${stable(kind + shown, (digest) => digest.slice(0, 4))}${rest === undefined ? '' : stable(rest, (digest) => digest.slice(0, 28))}"`,
    )
    .replaceAll(
      /"fingerprint":"([0-9a-f]{16})"/g,
      (_, hex) => `"fingerprint":"${stable(hex, (digest) => digest.slice(0, 16))}"`,
    )
    .replaceAll(/\b[A-Z2-7]{32}\b/g, 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP')
    .replaceAll(/"code":"\d{6}"/g, '"code":"123456"')
    .replaceAll(/"(?:[0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}"/g, (code) =>
      stable(code, (digest) => `"${digest.slice(0, 16).replace(/.{4}(?=.)/g, '$&-')}"`),
    )
    .replaceAll(/\b[0-9a-f]{64}\b/g, (secret) => stable(secret, (digest) => digest))
    .replaceAll(/"size":\d+,"root":"[\w+/]{43}="/g, '"size":127,"root":"9xvUJ2fbSCHXcsiVrGfiU0vSxqbgJpNQ1qTqSSnZOrM="')
    .replaceAll(/"checkpoint":\{"size":\d+/g, '"checkpoint":{"size":127')
    .replaceAll(/"lagSeconds":\d+/g, '"lagSeconds":0')
    .replaceAll(/[\w.:-]+\/audit\/log(?:\+[0-9a-f]{8}\+[\w+/]{44})?/g, (vkey) =>
      vkey.includes('+') ? `pay.example.com/audit/log+${stable(vkey, vkeyEndOf)}` : 'pay.example.com/audit/log',
    )
    .replaceAll(
      /"(signedAt|from|until|createdAt|revokedAt)":"[^"]{24}"(?=,"until|,"revokedAt|\}|,"token|,"signedBy)/g,
      '"$1":"2026-11-02T12:00:00.000Z"',
    )
    .replaceAll(/audit_[\w-]{43}/g, (token) => stable(token, (digest) => `audit_${digest.slice(0, 43)}`))
    .replaceAll(/"id":"([0-9a-f]{16})"/g, (_, id) => `"id":"${stable(id, (digest) => digest.slice(0, 16))}"`)
    .replaceAll(/"id":"([0-9a-f-]{36})"/g, (_, id) => `"id":"${stable(id, uuidOf)}"`)
    .replaceAll(/"(startedAt|endedAt|since|oldestAt)":"[^"]{24}"/g, '"$1":"2026-11-02T12:00:00.000Z"')
    .replaceAll(/"seconds":[\d.]+/g, '"seconds":0.4')
    .replaceAll(/"says":"PostgreSQL [\d.]+/g, '"says":"PostgreSQL 18.4')
    .replaceAll(/\d+ of \d+ in use, room for \d+ more process(?:es)?/g, '17 of 100 in use, room for 3 more processes')
    .replaceAll(/clock differs from this machine's by -?\d+ ms/g, "clock differs from this machine's by 0 ms")
    .replaceAll(/"says":"[\w:-]+, head \w+/g, '"says":"postgres-7f3a, head 0000000000001234')
    .replaceAll(/\(\d+ payments sampled\)/g, '(42 payments sampled)')
    .replaceAll(/\d+ entries sealed/g, '127 entries sealed')
    .replaceAll(/"eventId":"([0-9a-f-]{36})"/g, (_, id) => `"eventId":"${stable(id, uuidOf)}"`)
    .replaceAll(/"(parkedAt|recordedAt)":"[^"]{24}"/g, '"$1":"2026-11-02T12:00:00.000Z"')
    .replaceAll(/"(durationMs|duration_ms)":\d+/g, '"$1":42')
    .replaceAll(/\bE\d{20}[0-9A-Za-z]{11}\b/g, (id) => stable(id, (digest) => id.slice(0, 21) + digest.slice(0, 11)))
    .replaceAll(
      /"((?:data:image\/png;base64,)?[A-Za-z0-9+/]{200,}=*)"/g,
      (_, long: string) => `"${long.slice(0, SHOWN_CHARACTERS)}…"`,
    );
  return JSON.parse(text) as Recorded;
};
