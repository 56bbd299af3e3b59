// `doctor` on EventStoreDB: a healthy server, and the message for each problem.
import { expect } from 'chai';
import type { Diagnosis } from '../../../../infrastructure/eventStore/eventStoreDb/diagnose.ts';
import { diagnoseEventStoreDb } from '../../../../infrastructure/eventStore/eventStoreDb/diagnose.ts';
import { TIMINGS, type Timings } from '../../../../infrastructure/eventStore/eventStoreDb/settings.ts';
import { EventStoreDbServer } from '../../../support/eventStoreDb/server.ts';
import { RECEIVER } from '../../../support/tls/certificates.ts';
import { QUICK } from './support.ts';

const CERTIFICATE = new URL('../../../support/tls/receiver.cert.pem', import.meta.url).pathname;
const USERS = { ana: { password: 'secret', admin: true }, bia: { password: 'secret', admin: false } };
const MAY_READ = 'may read $all';
const OF_ALL = '"$acl": {"$r": …} in the metadata of $all';

describe('the diagnosis of EventStoreDB', () => {
  let server: EventStoreDbServer;
  afterEach(() => server.stop());

  const diagnose = (connectionString = server.connectionString, timings: Partial<Timings> = {}) =>
    diagnoseEventStoreDb(connectionString, { ...TIMINGS, ...timings });
  const startWithUsers = async () => {
    server = await EventStoreDbServer.start({ tls: RECEIVER, users: USERS });
  };
  const as = (login: string): string =>
    `${server.connectionString.replace('://127.0.0.1', `://${login}localhost`)}&tlsCAFile=${CERTIFICATE}`;
  const named = (findings: readonly Diagnosis[], check: string): Diagnosis | undefined =>
    findings.find((finding) => finding.check === check);
  const bad = (findings: readonly Diagnosis[]): readonly Diagnosis[] => findings.filter(({ isGood }) => !isGood);
  const skewOf = (findings: readonly Diagnosis[]): number =>
    Number(/differs from this machine's by (-?\d+) ms/.exec(named(findings, 'event store clock')?.says ?? '')?.[1]);

  it('reports all checks as good on a healthy server', async () => {
    server = await EventStoreDbServer.start();
    const findings = await diagnose();
    const skew = skewOf(findings);
    expect(Math.abs(skew)).to.be.below(1_000);
    expect(findings).to.deep.equal([
      { check: 'event store version', isGood: true, says: 'EventStoreDB 23.10.0' },
      { check: 'event store nodes', isGood: true, says: `1 of 1 alive, 127.0.0.1:${server.port} leads` },
      { check: 'event store access', isGood: true, says: `everybody ${MAY_READ}` },
      {
        check: 'event store clock',
        isGood: true,
        says: `the event store's clock differs from this machine's by ${skew} ms`,
      },
      { check: 'event store appends', isGood: true, says: "large enough for Quita's largest append (1000000 bytes)" },
    ]);
  });

  it('leaves one event in the log, which each further diagnosis replaces', async () => {
    server = await EventStoreDbServer.start();
    const before = server.records;
    await diagnose();
    await diagnose();
    expect(server.records.slice(before.length)).to.deep.equal([
      { stream: '$$quita_store-clock', revision: 0, type: '$metadata', data: '{"$maxCount":1}' },
      { stream: 'quita_store-clock', revision: 0, type: 'ClockRead', data: '{}' },
      { stream: 'quita_store-clock', revision: 1, type: 'ClockRead', data: '{}' },
    ]);
  });

  for (const seconds of [90, -90])
    it(`measures a clock that is ${seconds} s off, even if the server rejects appends as too late`, async () => {
      server = await EventStoreDbServer.start();
      server.shiftClock(seconds * 1_000);
      const findings = await diagnose();
      const skew = skewOf(findings);
      expect(skew).to.be.within(seconds * 1_000 - 5_000, seconds * 1_000 + 5_000);
      const says = `the event store's clock differs from this machine's by ${skew} ms: run NTP on both; if it is 60000 ms ahead, it rejects every append as too late`;
      expect(bad(findings)).to.deep.equal([{ check: 'event store clock', isGood: false, says }]);
    });

  it('names a user without access to $all, and the permission to grant', async () => {
    await startWithUsers();
    const findings = await diagnose(as('bia:secret@'));
    const says = `the user bia may not read $all, which only administrators may by default: add it to ${OF_ALL}`;
    expect(bad(findings)).to.deep.equal([{ check: 'event store access', isGood: false, says }]);
  });

  it('accepts a user with access to $all', async () => {
    await startWithUsers();
    const findings = await diagnose(as('ana:secret@'));
    expect(bad(findings)).to.deep.equal([]);
    expect(named(findings, 'event store access')?.says).to.equal(`ana ${MAY_READ}`);
  });

  for (const [what, login, says] of [
    ['missing credentials', '', 'the server requires authentication: add user:password@ to EVENTSTORE_URL'],
    ['a wrong password', 'ana:wrong@', 'the server rejected the user ana or its password: correct EVENTSTORE_URL'],
  ] as const)
    it(`reports ${what} in every finding that it affects`, async () => {
      await startWithUsers();
      expect(bad(await diagnose(as(login)))).to.deep.equal(
        ['access', 'clock', 'appends'].map((check) => ({ check: `event store ${check}`, isGood: false, says })),
      );
    });

  it('reports that a password is not sent without TLS', async () => {
    server = await EventStoreDbServer.start({ users: USERS });
    const findings = await diagnose(server.connectionString.replace('://', '://ana:secret@'));
    expect(named(findings, 'event store access')).to.deep.equal({
      check: 'event store access',
      isGood: false,
      says: 'user and password are sent over TLS only: remove tls=false from EVENTSTORE_URL',
    });
  });

  it('mentions the license from 24.10 on, and rejects versions older than 22.10', async () => {
    server = await EventStoreDbServer.start();
    const told = async (version: string) => {
      server.pretendToBe(version);
      return named(await diagnose(), 'event store version');
    };
    expect(await told('24.10.1')).to.deep.equal({
      check: 'event store version',
      isGood: true,
      says: "EventStoreDB 24.10.1; versions from 24.10 on use Kurrent's source-available licence (24.6 and older: BSD-3)",
    });
    expect((await told('25.0.0'))?.says).to.contain('licence');
    expect((await told('24.6.0'))?.says).to.equal('EventStoreDB 24.6.0');
    expect(await told('22.6.2')).to.deep.equal({
      check: 'event store version',
      isGood: false,
      says: 'EventStoreDB 22.6.2 returns no positions in stream reads: upgrade it to 22.10 or newer',
    });
  });

  it('reports a maximum append size that is too small', async () => {
    server = await EventStoreDbServer.start();
    server.limitAppends(1_000_000);
    expect(bad(await diagnose())).to.deep.equal([]);
    server.limitAppends(999_999);
    const says =
      "smaller than Quita's largest append (1000000 bytes): Maximum Append Size of 999999 Exceeded; raise MaxAppendSize";
    expect(bad(await diagnose())).to.deep.equal([{ check: 'event store appends', isGood: false, says }]);
  });

  it('reports an unreachable server in a single finding', async () => {
    server = await EventStoreDbServer.start();
    const { connectionString, port } = server;
    await server.stop();
    const [finding, ...others] = await diagnose(connectionString, QUICK);
    expect(others).to.deep.equal([]);
    expect(finding?.says).to.equal(
      `the node 127.0.0.1:${port} cannot be reached: check that the server runs and that EVENTSTORE_URL is correct`,
    );
  });
});
