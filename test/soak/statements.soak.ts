// A statement of a month with 1,000,000 movements is complete in every format, and its memory stays constant.
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { pdfText } from '../support/pdfText.ts';
import type { TestGateway } from '../world/gateway.ts';
import { openReady } from '../world/http.ts';

const MOVEMENTS = 1_000_000;
const MONTH = '2026-01';
const MEGABYTE = 1_000_000;
/** For pages and buffers. The CSV alone is 190 MB. */
const GROWTH_MAX = 30 * MEGABYTE;
/** Memory without garbage is measured each time this many bytes have arrived. */
const MEASURED_EVERY = 20 * MEGABYTE;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
/** Returns the bytes in use after a garbage collection. */
const inUse = (): number => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

describe(`the statement of a month with ${MOVEMENTS} movements`, function () {
  this.timeout(0);
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady();
    const { accountId } = gateway.tenant;
    const db = gateway.storage.operations;
    for (let done = 0; done < MOVEMENTS; done += 100_000)
      await db.query(
        `INSERT INTO rm_wallet.entries (stream, payment_id, revision, account_id, mode, currency, at, ledger_accounts, amounts)
         SELECT 'payment-0' || lpad(n::text, 25, '0'), '0' || lpad(n::text, 25, '0'), 2, $1, 'test', 'BRL',
           timestamptz '2026-01-01T03:00:00Z' + n * interval '2.6 seconds',
           '{provider_clearing,merchant_available,provider_fees,platform_fees}', '{-10000,9890,10,100}'
         FROM generate_series($2::integer, $3::integer) n`,
        [accountId, done, done + 99_999],
      );
    await db.query(
      `INSERT INTO rm_daily_balances.daily_movements (account_id, mode, currency, ledger_account, day, credits, debits, postings)
    SELECT account_id, mode, currency, 'merchant_available', to_char(at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD'), sum(amounts[2]), 0, count(*)
    FROM rm_wallet.entries GROUP BY 1, 2, 3, 4, 5`,
    );
    await db.query('VACUUM ANALYZE rm_wallet.entries');
  });
  after(() => gateway.close());

  const fetched = async (format: string, onChunk: (chunk: Buffer) => void) => {
    const begun = performance.now();
    const response = await fetch(`${gateway.baseUrl}/v1/statements/${MONTH}?format=${format}`, {
      headers: { apikey: gateway.tenant.testKey },
    });
    expect(response.status).to.equal(200);
    let firstMs = 0;
    let bytes = 0;
    const before = inUse();
    let most = before;
    const sink = new Writable({
      write: (chunk: Buffer, _, done) => {
        firstMs ||= performance.now() - begun;
        if (Math.floor(bytes / MEASURED_EVERY) !== Math.floor((bytes + chunk.length) / MEASURED_EVERY))
          most = Math.max(most, inUse());
        bytes += chunk.length;
        onChunk(chunk);
        done();
      },
    });
    await pipeline(response.body as never, sink);
    const seconds = (performance.now() - begun) / 1000;
    console.log(
      `      ${format}: ${(bytes / MEGABYTE).toFixed(1)} MB in ${seconds.toFixed(1)} s, first byte after ${firstMs.toFixed(0)} ms, memory +${((most - before) / MEGABYTE).toFixed(0)} MB`,
    );
    return most - before;
  };

  for (const [format, needle, perMovement] of [
    ['csv', '\r\n', 1],
    ['ofx', '<STMTTRN>', 2],
  ] as const)
    it(`is complete as ${format}, in constant memory`, async () => {
      let [count, rest, last] = [0, '', ''];
      const growth = await fetched(format, (chunk) => {
        const text = rest + chunk.toString();
        count += text.split(needle).length - 1;
        rest = text.slice(-needle.length + 1).includes(needle) ? '' : text.slice(-needle.length + 1);
        last = (last + chunk.toString()).slice(-1_000);
      });
      expect(count).to.equal(MOVEMENTS * perMovement + (format === 'csv' ? 3 : 0));
      expect(last).to.contain(format === 'csv' ? `,${MOVEMENTS * 9_890},0,0,` : '<BALAMT>98900000.00</BALAMT>');
      expect(growth).to.be.below(GROWTH_MAX);
    });

  it('has the totals and one line for each day as a PDF', async () => {
    const chunks: Buffer[] = [];
    await fetched('pdf', (chunk) => chunks.push(chunk));
    const text = pdfText(Buffer.concat(chunks));
    expect(text).to.include.members(['Pagamento recebido', String(MOVEMENTS), 'R$ 98.900.000,00']);
    const days = Array.from({ length: 31 }, (_, n) => `${String(n + 1).padStart(2, '0')}/01/2026`);
    expect(text.filter((cell) => /^\d\d\/\d\d\/\d{4}$/.test(cell))).to.deep.equal(days);
  });
});
