// The audit log over HTTP, for auditors and witnesses, on both event stores (rules U4, U5, U7).
import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { readCheckpoint } from '../../../../application/audit/checkpoint.ts';
import { entryBytes } from '../../../../application/audit/entry.ts';
import { leafHash, rootOf } from '../../../../application/audit/merkleTree.ts';
import {
  cosigned,
  noteKeyOf,
  publicBytes,
  readNote,
  readVkey,
  signersOf,
  vkeyOf,
  writeNote,
} from '../../../../application/audit/signedNote.ts';
import type { RecordedEvent } from '../../../../application/ports/eventStore.ts';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { sealAllOf } from '../../../infrastructure/audit/auditWorld.ts';
import { onBothStores } from '../../../world/bothStores.ts';
import { TestGateway } from '../../../world/gateway.ts';
import { expectError } from '../../../world/http.ts';

const LOG = '/audit/log';
const { privateKey } = generateKeyPairSync('ed25519');
const WITNESS = noteKeyOf('witness.example.com/w1', publicBytes(privateKey), 'cosignature');
const SETTINGS = { isPublic: false, witnesses: [vkeyOf(WITNESS)], anchors: [], inWebhooks: false };
/** Disables the schedule; the tests seal the log themselves. */
const startSchedule = () => async () => undefined;

const eventsIn = async ({ storage: { store } }: TestGateway): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  for await (const batch of store.subscribe({ after: null, categories: null, signal: new AbortController().signal })) {
    if (batch.kind === 'events') events.push(...batch.events);
    if (batch.kind === 'caughtUp') break;
  }
  return events.filter(({ stream }) => !stream.startsWith('webhookDelivery-'));
};

const bundle = (bytes: Buffer): readonly Buffer[] => {
  const entries: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 2 + bytes.readUInt16BE(at);
    entries.push(bytes.subarray(at + 2, end));
    at = end;
  }
  return entries;
};

onBothStores('the audit log', (log) => {
  let gateway: TestGateway;
  let token: string;
  before(async () => {
    gateway = await TestGateway.open({ ...log(), audit: SETTINGS, startSchedule });
    const issued = await gateway.gateway.services.platform.issueAuditToken('auditors');
    if (isRejection(issued)) throw new Error(issued.message);
    token = issued.token;
  });
  after(() => gateway.close());

  const bytesAt = async (path: string, headers: Record<string, string> = {}) => {
    const reply = await fetch(gateway.baseUrl + path, { headers: { authorization: `Bearer ${token}`, ...headers } });
    return { status: reply.status, headers: reply.headers, bytes: Buffer.from(await reply.arrayBuffer()) };
  };
  const get = (path: string, authorization: string | null = `Bearer ${token}`) =>
    gateway.get<string>(path, { key: null, headers: authorization === null ? {} : { authorization } });

  it('has no checkpoint and no tile before it is sealed', async () => {
    expectError(await get(`${LOG}/checkpoint`), 404, 'not_found');
    expectError(await get(`${LOG}/tile/0/000.p/1`), 404, 'not_found');
  });

  it('serves a checkpoint signed by the listed key, with the root of all events', async () => {
    await gateway.charge();
    await sealAllOf(gateway);
    const { text, headers } = await get(`${LOG}/checkpoint`);
    expect([headers.get('content-type'), headers.get('cache-control')]).to.deep.equal([
      'text/plain; charset=utf-8',
      'no-cache',
    ]);
    const note = readNote(text)!;
    const listed = await gateway.get<{ origin: string; log: string; keys: { vkey: string; until: null }[] }>(
      '/.well-known/quita-audit.json',
      { key: null },
    );
    const origin = `${gateway.baseUrl.replace('http://', '')}/audit/log`;
    expect([listed.body.origin, listed.body.log]).to.deep.equal([origin, `${gateway.baseUrl}/audit/log`]);
    expect(
      signersOf(
        note,
        listed.body.keys.map(({ vkey }) => readVkey(vkey)!),
      ),
    ).to.have.length(1);
    const leaves = (await eventsIn(gateway)).map((event) => leafHash(entryBytes(event)));
    expect(readCheckpoint(note.text)).to.deep.equal({
      origin,
      size: leaves.length,
      root: rootOf(Buffer.concat(leaves)),
    });
  });

  it('serves hashes and entries of a tile, partial and compressed', async () => {
    const events = await eventsIn(gateway);
    const width = events.length;
    const tile = await bytesAt(`${LOG}/tile/0/000.p/${width}`);
    expect([tile.status, tile.headers.get('content-type')]).to.deep.equal([200, 'application/octet-stream']);
    expect(tile.headers.get('cache-control')).to.equal('private, max-age=31536000, immutable');
    expect(tile.bytes).to.deep.equal(Buffer.concat(events.map((event) => leafHash(entryBytes(event)))));
    const part = await bytesAt(`${LOG}/tile/entries/000.p/${width - 1}`);
    expect(bundle(part.bytes)).to.deep.equal(events.slice(0, -1).map(entryBytes));
    // fetch asks for gzip and decompresses it.
    expect(part.headers.get('content-encoding')).to.equal('gzip');
    const plain = await bytesAt(`${LOG}/tile/entries/000.p/1`, { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).to.equal(null);
    expect(bundle(plain.bytes)).to.deep.equal(events.slice(0, 1).map(entryBytes));
  });

  for (const path of [
    '0/000',
    '1/000.p/1',
    'entries/000',
    '0/001.p/1',
    '0/0',
    '0/000.p/256',
    '0/000.p/0',
    'x/000',
    '64/000.p/1',
  ])
    it(`returns 404 for tile ${path}`, async () => expectError(await get(`${LOG}/tile/${path}`), 404, 'not_found'));

  it('needs a valid token that is not revoked', async () => {
    const issued = await gateway.gateway.services.platform.issueAuditToken('for a while');
    if (isRejection(issued)) throw new Error(issued.message);
    for (const path of ['/checkpoint', '/tile/0/000.p/1', '/tile/entries/000.p/1']) {
      for (const wrong of [null, `Bearer ${token}x`, `Bearer ${token.slice(0, -1)}x`, token, `Basic ${token}`]) {
        const reply = await get(LOG + path, wrong);
        expectError(reply, 401, 'unauthorized');
        expect(reply.headers.get('www-authenticate')).to.equal('Bearer');
      }
      expect((await get(LOG + path, `Bearer ${issued.token}`)).status).to.equal(200);
    }
    await gateway.gateway.services.platform.revokeAuditToken(issued.id);
    expectError(await get(`${LOG}/checkpoint`, `Bearer ${issued.token}`), 401, 'unauthorized');
  });

  describe('cosignatures', () => {
    const post = (raw: string) =>
      gateway.call<{ witnesses?: string[] }>('POST', `${LOG}/cosignatures`, {
        key: null,
        raw,
        headers: { 'content-type': 'text/plain' },
      });
    const latest = async () => readNote((await get(`${LOG}/checkpoint`)).text)!;

    it('are accepted from known witnesses on its own checkpoints, and served', async () => {
      const { text } = await latest();
      const signature = cosigned(text, WITNESS.name, privateKey, 1_700_000_000);
      const reply = await post(writeNote({ text, signatures: [signature] }));
      expect([reply.status, reply.body]).to.deep.equal([200, { witnesses: [WITNESS.name] }]);
      const served = await latest();
      expect(signersOf(served, [WITNESS])).to.deep.equal([WITNESS]);
      expect(served.signatures).to.have.length(2);
      const size = readCheckpoint(text)!.size;
      expect((await get(`${LOG}/checkpoint?size=${size}`)).text).to.equal(writeNote(served));
      const { checkpoint, keys, witnesses } = await gateway.gateway.services.platform.auditStatus();
      expect([checkpoint?.size, checkpoint?.signedBy]).to.deep.equal([size, keys.at(-1)?.vkey]);
      expect(witnesses.map((one) => [one.witness, one.size])).to.deep.equal([[WITNESS.name, size]]);
    });

    it('are replaced by newer ones, never by older ones', async () => {
      const { text } = await latest();
      const older = cosigned(text, WITNESS.name, privateKey, 1_700_000_008);
      const signature = cosigned(text, WITNESS.name, privateKey, 1_700_000_009);
      for (const signatures of [[signature, older], [signature], [older]]) {
        expect((await post(writeNote({ text, signatures }))).status).to.equal(200);
        expect((await latest()).signatures.at(-1)).to.deep.equal(signature);
      }
    });

    it('are rejected if from strangers, on other checkpoints, or malformed', async () => {
      const { text } = await latest();
      const stranger = generateKeyPairSync('ed25519').privateKey;
      const other = text.replace(/\n\d+\n/, '\n9999\n');
      const wrong = cosigned(text, WITNESS.name, stranger, 1_700_000_000);
      expectError(await post(writeNote({ text, signatures: [wrong] })), 401, 'unauthorized');
      const forged = { ...wrong, id: WITNESS.id };
      expectError(await post(writeNote({ text, signatures: [forged] })), 401, 'unauthorized');
      const signature = cosigned(other, WITNESS.name, privateKey, 1_700_000_000);
      expectError(await post(writeNote({ text: other, signatures: [signature] })), 404, 'not_found');
      expectError(await post('nonsense'), 400, 'invalid_request');
    });
  });
});

describe('a public audit log', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await TestGateway.open({ audit: { ...SETTINGS, isPublic: true }, startSchedule });
    await sealAllOf(gateway);
  });
  after(() => gateway.close());

  it('serves checkpoints and hashes to everyone, entries to auditors only', async () => {
    const get = (path: string) => gateway.get(LOG + path, { key: null });
    expect((await get('/checkpoint')).status).to.equal(200);
    const tile = await get('/tile/0/000.p/1');
    expect([tile.status, tile.headers.get('cache-control')]).to.deep.equal([
      200,
      'public, max-age=31536000, immutable',
    ]);
    expectError(await get('/tile/entries/000.p/1'), 401, 'unauthorized');
    expectError(
      await gateway.get(`${LOG}/checkpoint`, { key: null, headers: { authorization: 'Bearer nonsense' } }),
      401,
      'unauthorized',
    );
  });
});
