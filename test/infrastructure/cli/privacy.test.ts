// The operator's commands for personal data (rules L1–L3).
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runWordsIn } from '../../support/cli.ts';
import { pdfLines } from '../../support/pdfText.ts';
import { CaseDesk } from '../../world/caseDesk.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import { Merchant } from '../../world/merchant.ts';
import { pollUntil } from '../../world/pollUntil.ts';
import type { TestDatabase } from '../../world/postgres.ts';

const SECRETS_KEY = randomBytes(32);
const CUSTOMER = { name: 'Ana Souza', document: '390.533.447-05', email: 'ana@example.com' };

describe('privacy find, report and erase', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let id: string;
  before(async () => {
    database = await startedDatabase();
    gateway = await TestGateway.open({ database, secretsKeys: [SECRETS_KEY] });
    const merchant = await Merchant.open(gateway);
    ({ id } = await merchant.charge({ customer: CUSTOMER }));
    await merchant.pay(id);
    await gateway.untilProjected();
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });

  const run = <T = Record<string, unknown>>(...words: string[]) =>
    runWordsIn<T>(
      { DATABASE_URL: database.connectionString, SECRETS_KEY: SECRETS_KEY.toString('base64') },
      'privacy',
      ...words,
    );
  const tx = () => id.replace('ch_', 'tx_');

  it('require exactly one valid subject', async () => {
    for (const words of [['find'], ['find', '--email', 'a@b.co', '--document', '39053344705']])
      expect((await run(...words)).err).to.include('name exactly one of --document, --email, --payment and --payout');
    expect((await run('find', '--document', '1')).err).to.include('--document must be a valid CPF or CNPJ');
    expect((await run('find', '--email', 'ana')).err).to.include('--email must be an email address');
  });

  it('find a person in every spelling of the document and email address', async () => {
    for (const words of [
      ['--document', '39053344705'],
      ['--document', CUSTOMER.document],
      ['--email', 'ANA@example.com'],
    ]) {
      const { code, json } = await run<{ found: readonly { id: string; data?: unknown }[] }>(
        'find',
        ...words,
        '--json',
      );
      expect([code, json.found.map((one) => [one.id, one.data])]).to.deep.equal([0, [[tx(), undefined]]]);
    }
    expect((await run('find', '--document', '12345678909')).out).to.equal('nothing is held\n');
  });

  it('find a person whom only a dispute case mentions, in the bank’s reason or the merchant’s appeal', async () => {
    const { body: charge } = await gateway.charge<{ id: string }>({ amount: 1_000 });
    await gateway.post(`/v1/sandbox/charges/${charge.id}/pay`);
    const { body: opened } = await gateway.post<{ id: string }>(`/v1/sandbox/charges/${charge.id}/med`, {
      reason: 'Says bank@case.example',
    });
    const reason = 'Sold to 529.982.247-25';
    expect((await gateway.post(`/v1/med/cases/${opened.id}/appeal`, { reason })).status).to.equal(200);
    await gateway.untilProjected();
    for (const words of [
      ['--document', '52998224725'],
      ['--email', 'bank@case.example'],
    ]) {
      const { json } = await run<{ found: readonly { id: string }[] }>('find', ...words, '--json');
      expect(json.found.map((one) => one.id)).to.deep.equal([charge.id.replace('ch_', 'tx_')]);
    }
  });

  it('find and erase a payer whom only the earlier of two dispute cases names', async () => {
    const desk = await CaseDesk.open(gateway);
    const disputed = await desk.paid();
    const isPaid = async () => ((await desk.chargeOf(disputed)).status === 'paid' ? true : null);
    for (const payer of [
      { name: 'Rui Prado', document: '11144477735' },
      { name: 'Eva Melo', document: '98765432100' },
    ]) {
      await desk.withdraw((await desk.dispute(disputed, { payer })).id);
      expect(await pollUntil(gateway.gateway.projected, 30_000, isPaid)).to.equal(true);
    }
    const found = async (document: string) => {
      const { json } = await run<{ found: readonly { id: string }[] }>('find', '--document', document, '--json');
      return json.found.map((one) => one.id);
    };
    const held = [disputed.replace('ch_', 'tx_')];
    expect([await found('11144477735'), await found('98765432100')]).to.deep.equal([held, held]);
    const words = ['erase', '--payment', disputed, '--despite-retention', '--reason'];
    expect((await run(...words, 'for Rui Prado')).err).to.include('must not contain the person’s name');
    expect((await run(...words, 'request 18')).code).to.equal(0);
    await gateway.untilProjected();
    expect([await found('11144477735'), await found('98765432100')]).to.deep.equal([[], []]);
  });

  it('find and erase the payers of a Pix of the wrong amount and of a second Pix', async () => {
    const { body: charge } = await gateway.charge<{ id: string }>({ amount: 1_000 });
    const pay = (body: object) => gateway.post(`/v1/sandbox/charges/${charge.id}/pay`, body);
    await pay({ amount: 999, payer: { name: 'Lia Reis', document: '11144477735' } });
    await pay({});
    await pay({ payer: { name: 'Ivo Luz', document: '98765432100' } });
    await gateway.untilProjected();
    const found = async (document: string) => {
      const { json } = await run<{ found: readonly { id: string }[] }>('find', '--document', document, '--json');
      return json.found.map((one) => one.id);
    };
    const held = [charge.id.replace('ch_', 'tx_')];
    expect([await found('11144477735'), await found('98765432100')]).to.deep.equal([held, held]);
    const words = ['erase', '--payment', charge.id, '--despite-retention', '--reason', 'request 19'];
    expect((await run(...words)).code).to.equal(0);
    await gateway.untilProjected();
    expect([await found('11144477735'), await found('98765432100')]).to.deep.equal([[], []]);
  });

  it('report as JSON, and as a PDF that only its owner can read', async () => {
    const { json } = await run<{ data: readonly { data: object }[] }>('report', '--payment', id, '--json');
    expect(json.data[0]?.data).to.have.nested.property('charge.terms.customer.document', CUSTOMER.document);
    const folder = await mkdtemp(join(tmpdir(), 'quita-report-'));
    const path = join(folder, 'report.pdf');
    expect((await run('report', '--payment', id, '--pdf', path)).out).to.equal(`${path} lists 1 payments\n`);
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    expect(pdfLines(await readFile(path)).map(({ text }) => text)).to.include(CUSTOMER.document);
    expect((await run('report', '--payment', id, '--pdf', path)).err).to.include("can't be written (EEXIST)");
    await rm(folder, { recursive: true });
  });

  it('reject an erasure without a reason, with personal data in the reason, or before the retention period ends', async () => {
    expect((await run('erase', '--payment', id)).code).to.equal(2);
    for (const reason of ['Ana Souza asked', 'for ana@example.com'])
      expect((await run('erase', '--payment', id, '--reason', reason)).err).to.include(
        'must not contain the person’s name',
      );
    const early = await run('erase', '--payment', id, '--reason', 'request 17');
    expect(early.code).to.equal(2);
    expect(early.err).to.match(/must be kept until .*\. Add --despite-retention to do so\.\n$/);
    const words = ['erase', '--document', CUSTOMER.document, '--reason', 'x', '--json'];
    const { code, json } = await run<{ erased: readonly { outcome: string; because: string }[] }>(...words);
    expect([code, json.erased[0]?.outcome]).to.deep.equal([1, 'refused']);
    expect(json.erased[0]?.because).to.include('Add --despite-retention');
  });

  it('erase a payment once and report it', async () => {
    const words = ['erase', '--payment', id, '--reason', 'request 17', '--despite-retention'];
    expect((await run(...words)).out).to.match(new RegExp(`^${tx()}  erased`));
    expect((await run(...words)).out).to.match(new RegExp(`^${tx()}  erased before`));
    await gateway.untilProjected();
    expect((await run('find', '--document', CUSTOMER.document)).out).to.equal('nothing is held\n');
  });

  it('scrub names the rights that it needs', async () => {
    const { rows } = await gateway.storage.operations.query<{ ok: boolean }>(
      "SELECT pg_has_role('pg_checkpoint', 'USAGE') AS ok",
    );
    if (rows[0]?.ok) return;
    const { code, err } = await run('scrub');
    expect([code, err]).to.satisfy(
      ([got, text]: [number, string]) => got === 2 && text.includes('GRANT pg_checkpoint, pg_monitor'),
    );
  });
});
