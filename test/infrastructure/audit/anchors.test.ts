// External anchors receive checkpoints: at most once a minute, with retries, and never at private addresses (rule U6).
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AnchorNeeds, sendToAnchors } from '../../../application/audit/anchors.ts';
import type { SignedCheckpoint } from '../../../application/ports/auditTree.ts';
import type { Mail } from '../../../application/ports/mail.ts';
import type { AttemptOutcome, WebhookRequest } from '../../../application/ports/webhookSender.ts';
import { fromMillis, MINUTE_MS } from '../../../domain/kernel/time.ts';
import { auditAnchors } from '../../../infrastructure/audit/auditAnchors.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { openWebhookSender } from '../../../infrastructure/webhookSender/webhookSender.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

const OK: AttemptOutcome = {
  ok: true,
  statusCode: 200,
  error: null,
  responseBody: null,
  retryAfterMs: null,
  durationMs: 1,
};
const URL = 'https://anchor.example.com/checkpoints';
const noteOf = (size: number): string =>
  `pay.example.com/audit/log\n${size}\nAAAA\n\n— pay.example.com/audit/log BBBB\n`;

describe('an anchor of the audit log', () => {
  let database: TestDatabase;
  let pool: PgPool;
  let folder: string;
  let nowMs: number;
  let latest: SignedCheckpoint | null;
  let outcome: AttemptOutcome;
  const requests: WebhookRequest[] = [];
  const mails: Mail[] = [];
  before(async () => {
    database = await migratedDatabase();
    pool = new PgPool(connectionConfig(database.connectionString, 'quita test'), 2, () => undefined);
  });
  beforeEach(async () => {
    await pool.query('TRUNCATE audit.anchors');
    folder = await mkdtemp(join(tmpdir(), 'quita-anchor-'));
    nowMs = Date.now();
    outcome = OK;
    requests.length = 0;
    mails.length = 0;
    sign(1);
  });
  afterEach(() => rm(folder, { recursive: true }));
  after(async () => {
    await pool.close();
    await database.drop();
  });
  const sign = (size: number) => {
    latest = { size, note: noteOf(size), signedAt: fromMillis(nowMs) };
  };
  const sendTo = async (anchors: readonly string[], more: Partial<AnchorNeeds> = {}) => {
    await sendToAnchors({
      auditTree: { latest: async () => latest },
      auditAnchors: auditAnchors(pool),
      auditSettings: { anchors },
      auditClock: { now: () => nowMs },
      sender: {
        send: async (request) => {
          requests.push(request);
          return outcome;
        },
      },
      mail: { send: async (mail) => void mails.push(mail) },
      ...more,
    });
    return await auditAnchors(pool).states(anchors);
  };

  it('that is a file has each checkpoint appended', async () => {
    const path = join(folder, 'checkpoints');
    await sendTo([path]);
    sign(2);
    nowMs += MINUTE_MS + 1_000;
    const [state] = await sendTo([path]);
    expect(await readFile(path, 'utf8')).to.equal(noteOf(1) + noteOf(2));
    expect([state?.size, state?.failures]).to.deep.equal([2, 0]);
  });

  it('that is a URL receives the note as text, to public addresses only', async () => {
    await sendTo([URL]);
    expect(requests).to.deep.equal([
      {
        url: URL,
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body: noteOf(1),
        mode: 'live',
        account: 'audit',
      },
    ]);
  });

  for (const url of ['https://127.0.0.1/x', 'https://169.254.169.254/x', 'https://[::1]/x'])
    it(`that is ${url} is blocked`, async () => {
      const sender = openWebhookSender({ allowPrivate: true });
      const [state] = await sendTo([url], { sender });
      await sender.close();
      expect([state?.size, state?.failures]).to.deep.equal([0, 1]);
      expect(state?.error).to.match(/^blocked/);
    });

  it('that is not a file, an https URL or an email address is rejected', async () => {
    const [state] = await sendTo(['http://example.com/x']);
    expect([state?.size, state?.failures, requests, mails]).to.deep.equal([0, 1, [], []]);
    expect(state?.error).to.match(/^not a file path/);
  });

  for (const anchor of ['auditor@example.com', 'mailto:auditor@example.com'])
    it(`that is ${anchor} receives a mail`, async () => {
      await sendTo([anchor]);
      const [{ to, subject, text } = {} as Mail] = mails;
      expect([mails.length, to, subject]).to.deep.equal([
        1,
        'auditor@example.com',
        'Checkpoint 1 of pay.example.com/audit/log',
      ]);
      expect(text).to.contain(noteOf(1));
    });

  it('receives each checkpoint once, and at most one checkpoint a minute', async () => {
    await sendTo([URL]);
    await sendTo([URL]);
    sign(2);
    nowMs += 30_000;
    await sendTo([URL]);
    expect(requests).to.have.length(1);
    sign(3);
    nowMs += 31_000;
    await sendTo([URL]);
    expect(requests.map(({ body }) => body)).to.deep.equal([noteOf(1), noteOf(3)]);
  });

  it('that fails is retried with a doubling pause, and delays no other anchor', async () => {
    const path = join(folder, 'checkpoints');
    outcome = { ...OK, ok: false, statusCode: 503, error: 'status: 503' };
    const [failed, sent] = await sendTo([URL, path]);
    expect([failed?.failures, failed?.error, failed?.size, sent?.size]).to.deep.equal([1, 'status: 503', 0, 1]);
    await sendTo([URL]);
    expect(requests, 'not before the pause is over').to.have.length(1);
    nowMs += MINUTE_MS;
    const [again] = await sendTo([URL]);
    expect(again?.failures).to.equal(2);
    nowMs += MINUTE_MS;
    await sendTo([URL]);
    expect(requests, 'the pause doubles').to.have.length(2);
    outcome = OK;
    nowMs += MINUTE_MS;
    const [done] = await sendTo([URL]);
    expect([done?.size, done?.failures, done?.error]).to.deep.equal([1, 0, null]);
  });

  it('that is a file on a disk that does not answer is retried later, and delays no other anchor', async () => {
    const [hung, good] = [join(folder, 'hung'), join(folder, 'good')];
    execFileSync('mkfifo', [hung]); // opening it waits for a reader
    const more = { auditAnchors: auditAnchors(pool, 1_000) };
    const [late, sent] = await sendTo([hung, good], more);
    expect([late?.failures, late?.error, late?.size, sent?.size]).to.deep.equal([
      1,
      `${hung} did not answer within 1 s`,
      0,
      1,
    ]);
    sign(2);
    nowMs += MINUTE_MS + 1_000;
    const [again] = await sendTo([hung], more);
    expect(again?.failures).to.equal(2);
    expect(await readFile(hung, 'utf8'), 'the second attempt waits for the first').to.equal(noteOf(1));
  });

  it('receives nothing before the first checkpoint', async () => {
    latest = null;
    await sendTo([URL, 'auditor@example.com']);
    expect([requests, mails]).to.deep.equal([[], []]);
  });
});
