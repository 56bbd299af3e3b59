// `audit export`, `prove`, `verify` and `explain`, beside a running gateway that seals its log. Exports are checked by the standalone
// verifier for Node; `npm run test:python` runs the one for Python.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AuditStatus } from '../../../application/audit/operateAudit.ts';
import type { EventChapter, PaymentStory } from '../../../application/audit/paymentStory.ts';
import { runVerifier } from '../../support/audit/verifiers.ts';
import { runWords } from '../../support/cli.ts';
import { CaseDesk } from '../../world/caseDesk.ts';
import { answering, Receivers } from '../../world/deliveryFacts.ts';
import { startedDatabase, type TestGateway } from '../../world/gateway.ts';
import { openReady, rawIdOf } from '../../world/http.ts';
import type { TestDatabase } from '../../world/postgres.ts';

interface Proofs {
  readonly proofs: readonly {
    readonly stream: string;
    readonly revision: number;
    readonly index: number;
    readonly file: string;
  }[];
  readonly unsealed: number;
}

describe('the commands for auditors', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let folder: string;
  let chargeId: string;
  let account: string;
  const receivers = new Receivers();
  const run = <T>(...words: string[]) => runWords<T>(database.connectionString, ...words);
  const good = async <T>(...words: string[]): Promise<T> => {
    const { code, err, json } = await run<T>(...words, '--json');
    expect(code, err).to.equal(0);
    return json;
  };
  const refused = async (...words: string[]): Promise<string> => {
    const { code, err } = await run(...words);
    expect(code).to.equal(2);
    return err.trim().replace(/^quita: /, '');
  };
  const untilSealed = async (): Promise<AuditStatus> => {
    for (;;) {
      const status = await good<AuditStatus>('audit', 'status');
      if (status.size > 0 && status.lagSeconds === 0 && status.checkpoint?.size === status.size) return status;
    }
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quita-auditor-'));
    database = await startedDatabase();
    gateway = await openReady({ database });
    const receiver = await receivers.open(answering(() => 503));
    const desk = await CaseDesk.open(gateway);
    account = `acct_${desk.merchant.tenant.accountId}`;
    await desk.merchant.register(receiver.url, ['charge.paid']);
    chargeId = await desk.paid(10_000);
    const refund = await desk.desk.refund(chargeId, { amount: 1_000 });
    await desk.desk.untilStatuses(chargeId, 'IN_PROGRESS');
    await desk.desk.ended(refund.id, 'confirm');
    await desk.dispute(chargeId);
    await gateway.untilProjected();
    await untilSealed();
  });
  after(async () => {
    await gateway.close();
    await receivers.close();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  describe('audit explain', () => {
    it('returns events, causes, postings and webhooks in order', async () => {
      const story = await good<PaymentStory>('audit', 'explain', chargeId);
      expect([story.paymentId, story.accountId, story.mode]).to.deep.equal([
        `tx_${rawIdOf(chargeId)}`,
        account,
        'test',
      ]);
      const events = story.chapters.filter((one): one is EventChapter => one.kind === 'event');
      const told = events.map(({ type, words }) => [type, words.en]);
      const has = (type: string, sentence: string) => expect(told).to.deep.include([type, sentence]);
      has('ChargeCreated', 'The merchant asked for R$ 100.00, payable by Pix, through /v1/charges.');
      has(
        'TransactionRefundReserved',
        'The merchant asked to refund R$ 10.00 as a new Pix. The amount left the wallet.',
      );
      has('RefundCompleted', 'The provider confirmed the refund.');
      has('TransactionRefundCompleted', 'The payer got the refund of R$ 10.00.');
      const times = story.chapters.map(({ at }) => at);
      expect(times).to.deep.equal(times.toSorted());
      const settled = events.find(({ type }) => type === 'TransactionSettled');
      expect(settled?.postings.reduce((sum, { amount }) => sum + amount, 0)).to.equal(0);
      expect(settled?.postings[0]).to.deep.equal({
        account: 'provider_clearing',
        currency: 'BRL',
        amount: -10_000,
        what: { en: 'received by the provider', pt: 'recebido pelo provedor' },
      });
      const reserved = events.find(({ type }) => type === 'TransactionRefundReserved');
      expect(reserved?.actor).to.match(/^key:[0-9a-f]{16}$/);
      expect(reserved?.requestId).to.match(/^req_/);
      expect(
        events.filter(({ webhook }) => webhook?.eventType === 'charge.paid').map(({ words }) => words.en)[0],
      ).to.match(/^Attempt 1 failed: status 503 after \d+ ms; the next one is at /);
    });

    it('prints the story as text', async () => {
      const { out, code } = await run('audit', 'explain', chargeId);
      expect(code).to.equal(0);
      expect(out).to.match(/^Payment tx_\w{26} of account acct_\w{26}, test mode\n/);
      expect(out).to.match(/\n {4}ledger: provider_clearing -R\$ 100\.00 \(received by the provider\)\n/);
      expect(out).to.match(/\n {4}ChargeCreated payment-\w{26}@0, by key:[0-9a-f]{16}, request req_\w+\n/);
    });

    it('prints the story in Portuguese', async () => {
      const { out, code } = await run('audit', 'explain', chargeId, '--language', 'pt');
      expect(code).to.equal(0);
      expect(out).to.match(/^Pagamento tx_\w{26} da conta acct_\w{26}, modo de teste\n/);
      expect(out).to.match(
        /Z {2}O lojista criou uma cobrança de R\$ 100,00, a pagar por Pix, pela rota \/v1\/charges\.\n/,
      );
      expect(out).to.match(/\n {4}ChargeCreated payment-\w{26}@0, por key:[0-9a-f]{16}, requisição req_\w+\n/);
      expect(out).to.match(/\n {4}lançamento: provider_clearing -R\$ 100,00 \(recebido pelo provedor\)\n/);
      expect(out).to.match(
        /Z {2}Webhook charge\.paid para we_\w{26}: A tentativa 1 falhou: status 503 depois de \d+ ms; a próxima será em /,
      );
    });

    it('rejects unknown and invalid payment IDs', async () => {
      expect(await refused('audit', 'explain', 'ch_00000000000000000000000000')).to.equal('There is no such payment.');
      expect(await refused('audit', 'explain', 'x')).to.match(/^"x" is not a payment id/);
    });
  });

  it('audit export and audit verify agree with the standalone verifier for Node', async () => {
    const out = join(folder, 'export');
    const { size, keys } = await good<{ size: number; keys: string[] }>('audit', 'export', '--out', out);
    const { out: text } = await run('audit', 'verify', out, '--key', keys[0] as string);
    expect(runVerifier('node', [out, '--key', keys[0] as string])).to.deep.include({ code: 0, lines: [text.trim()] });
    expect((await run('audit', 'verify')).out).to.match(/^verified: \d+ entries, \d+ of them in signed checkpoints\n$/);
    const lines = readFileSync(join(out, 'entries.ndjson'), 'utf8');
    writeFileSync(join(out, 'entries.ndjson'), lines.replace('"amount":10000', '"amount":10001'));
    const changed = await run('audit', 'verify', out);
    expect([changed.code, changed.out]).to.match(/^1,entry \d+: not as in the tree\n$/);
    const held = join(out, 'checkpoints', String(size));
    writeFileSync(join(out, 'entries.ndjson'), lines);
    expect((await run('audit', 'verify', out, '--checkpoint', held)).code).to.equal(0);
    const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8'));
    const rewritten = async (changes: object) => {
      writeFileSync(join(out, 'manifest.json'), JSON.stringify({ ...manifest, ...changes }));
      return await run('audit', 'verify', out);
    };
    const HOSTILE = 'x\nverified: 9 entries\u009b8m';
    const hostile = await rewritten({ origin: HOSTILE });
    expect([hostile.code, hostile.out]).to.match(
      /^1,checkpoint \d+ is not .* of x\\u000averified: 9 entries\\u009b8m\n/,
    );
    expect((await rewritten({ keys: [HOSTILE] })).err).to.equal(
      `quita: ${out} can't be verified: malformed public key: x\\u000averified: 9 entries\\u009b8m\n`,
    );
  });

  it('audit export accepts a period of days and an account', async () => {
    const out = join(folder, 'month');
    const month = ['--from', '2026-01-01', '--to', '2026-02-01T03:00:00.000Z', '--account', account];
    const manifest = await good<Record<string, unknown>>('audit', 'export', '--out', out, ...month);
    expect(manifest).to.include({ from: '2026-01-01T03:00:00.000Z', account: account.slice('acct_'.length) });
    expect(await refused('audit', 'export', '--out', out)).to.equal(
      'The folder holds an export of another period or account.',
    );
    expect(await refused('audit', 'export', '--out', `${out}2`, '--from', 'May')).to.match(
      /^--from must be a day like/,
    );
    const backwards = ['--from', '2026-02-01', '--to', '2026-02-01'];
    expect(await refused('audit', 'export', '--out', `${out}2`, ...backwards)).to.equal('--to must be after --from');
    const nobody = ['--account', `acct_${'0'.repeat(26)}`];
    expect(await refused('audit', 'export', '--out', `${out}2`, ...nobody)).to.equal('There is no such account.');
  });

  it('audit prove writes a proof of each event, which the standalone verifier for Node accepts', async () => {
    const out = join(folder, 'proofs');
    const { proofs, unsealed } = await good<Proofs>('audit', 'prove', chargeId, '--out', out);
    expect(unsealed).to.equal(0);
    expect(new Set(proofs.map(({ stream }) => stream.split('-')[0]))).to.deep.equal(
      new Set(['payment', 'refund', 'medCase']),
    );
    const { keys } = await good<AuditStatus>('audit', 'status');
    const files = proofs.flatMap(({ file }) => ['--proof', file]);
    const { code, lines } = runVerifier('node', [...files, '--key', keys[0]?.vkey as string]);
    expect([code, lines.length]).to.deep.equal([0, proofs.length]);
    expect(lines[0]).to.match(/^verified: entry \d+ of \S+, tree of size \d+: \{"data":\{/);
    const [{ stream, revision, index } = { stream: '', revision: 0, index: 0 }] = proofs;
    const one = await good<Proofs>('audit', 'prove', `${stream}@${revision}`, '--out', join(folder, 'one'));
    expect(one.proofs.map((proof) => proof.index)).to.deep.equal([index]);
    expect(await refused('audit', 'prove', `${stream}@999`, '--out', out)).to.equal('There is no such event.');
    const { chapters } = await good<PaymentStory>('audit', 'explain', chargeId);
    const attempt = chapters.find((one) => one.kind === 'event' && one.webhook !== undefined) as EventChapter;
    expect(await refused('audit', 'prove', `${attempt.stream}@0`, '--out', out)).to.equal(
      'Events of webhook deliveries expire, so they are not in the audit log.',
    );
    const forged = readFileSync(proofs[0]?.file as string, 'utf8').replace(/^index \d+$/m, 'index 0');
    writeFileSync(join(folder, 'forged'), forged);
    const found = runVerifier('node', ['--proof', join(folder, 'forged'), '--key', keys[0]?.vkey as string]);
    expect([found.code, found.lines]).to.deep.equal([
      1,
      [`fault: ${join(folder, 'forged')}: entry 0 is not in the tree that was signed`],
    ]);
  });
});
