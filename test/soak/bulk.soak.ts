// 10,000,000 events, with read models and ledger, in less than 15 minutes: all consistent, and every GET as fast as on a short log. Prints
// the size of each table. EVENTS changes the number of events, and TENANTS that of merchants (100). VERIFY=wallet,payments verifies these
// read models. By default, all are verified up to 1,000,000 events, and only the ledger beyond that. The report is also written to
// bench-results. `node test/bench/growth.ts` draws several reports (docs/images/growth.svg).
import { mkdir, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { bulk } from '../bench/bulk.ts';

const EVENTS = Number(process.env['EVENTS'] ?? 10_000_000);
const TENANTS = Number(process.env['TENANTS'] ?? 100);
const VERIFY = process.env['VERIFY']?.split(',') ?? (EVENTS > 1_000_000 ? ['wallet'] : null);
const PER_SECOND = 10_000_000 / 900;
const GET_MS_MAX = 100;
const MB = 1_000_000;

describe(`${EVENTS} events of ${TENANTS} merchants, appended in bulk`, () => {
  it('are appended and projected in time, consistent, and served as fast as on a short log', async () => {
    const beganAtMs = performance.now();
    const say = (line: string) =>
      console.log(`    ${((performance.now() - beganAtMs) / 1_000).toFixed(0).padStart(5)} s  ${line}`);
    const report = await bulk({ events: EVENTS, tenants: TENANTS, verified: VERIFY, say });
    await mkdir('bench-results', { recursive: true });
    await writeFile(`bench-results/bulk-${EVENTS}.json`, JSON.stringify(report, null, 2));
    for (const { path, status, ms } of report.gets)
      console.log(`    ${ms.toFixed(1).padStart(7)} ms  ${status}  GET ${path}`);
    console.log('| table | rows | MB | indexes, MB | bytes an event |\n|---|---|---|---|---|');
    for (const { name, rows, tableBytes, indexBytes } of report.sizes) {
      const each = ((tableBytes + indexBytes) / report.events).toFixed(0);
      console.log(
        `| ${name} | ${rows} | ${(tableBytes / MB).toFixed(0)} | ${(indexBytes / MB).toFixed(0)} | ${each} |`,
      );
    }
    expect([report.differences, report.ledgerSum]).to.deep.equal([[], 0]);
    expect(report.events / (report.fillSeconds + report.projectSeconds), 'events a second').to.be.above(PER_SECOND);
    expect(report.gets.filter(({ ms }) => ms > GET_MS_MAX)).to.deep.equal([]);
    expect(report.gets.filter(({ status }) => status !== 200 && status !== 404)).to.deep.equal([]);
  });
});
