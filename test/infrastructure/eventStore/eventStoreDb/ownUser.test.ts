// The user that compose.yaml creates for Quita can do all that Quita does, and nothing that requires an administrator.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { diagnoseEventStoreDb } from '../../../../infrastructure/eventStore/eventStoreDb/diagnose.ts';
import { makeOwnUser } from '../../../../infrastructure/eventStore/eventStoreDb/ownUser.ts';
import { openEventStoreDb } from '../../../../infrastructure/eventStore/eventStoreDb/store.ts';
import { brief, idsOf, newEvents, newStream, TestSubscription } from '../../../conformance/eventStore/harness.ts';
import { EventStoreDbServer } from '../../../support/eventStoreDb/server.ts';
import { RECEIVER } from '../../../support/tls/certificates.ts';
import { rejection } from './support.ts';

const CA_FILE = fileURLToPath(new URL('../../../support/tls/receiver.cert.pem', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../../../infrastructure/boot/eventStoreUser.ts', import.meta.url));

describe('a user of its own on EventStoreDB', () => {
  let server: EventStoreDbServer;
  beforeEach(async () => {
    server = await EventStoreDbServer.start({ tls: RECEIVER, users: { admin: { password: 'changeit', admin: true } } });
  });
  afterEach(() => server.stop());

  const at = (login: string) =>
    `esdb://${login}@localhost:${server.port}?tls=true&tlsCAFile=${encodeURIComponent(CA_FILE)}`;
  const admin = () => at('admin:changeit');

  it('is created once; a repeat only sets its password; doctor accepts it and a store works with it', async () => {
    const made = { name: 'quita', isNew: true, rightsAreNew: true };
    expect(await makeOwnUser(admin(), at('quita:first'))).to.deep.equal(made);
    expect(await makeOwnUser(admin(), at('quita:second'))).to.deep.equal({
      ...made,
      isNew: false,
      rightsAreNew: false,
    });
    expect((await rejection(openEventStoreDb({ connectionString: at('quita:first') }))).message).to.include(
      'rejected the user or password',
    );
    const findings = await diagnoseEventStoreDb(at('quita:second'));
    expect(findings.filter(({ isGood }) => !isGood)).to.deep.equal([]);
    const store = await openEventStoreDb({ connectionString: at('quita:second') });
    const events = newEvents(2);
    expect(brief(await store.append(newStream(), -1, events))).to.deep.equal({ ok: true, revision: 1 });
    const subscription = new TestSubscription(store);
    await subscription.untilIds(idsOf(events));
    await subscription.stop();
    await store.close();
  });

  it('can’t create users', async () => {
    await makeOwnUser(admin(), at('quita:own'));
    expect((await rejection(makeOwnUser(at('quita:own'), at('other:own')))).message).to.include('Access Denied');
  });

  it('keeps an existing ACL of $all, and reports if it excludes the user', async () => {
    await makeOwnUser(admin(), at('first:own'));
    const { name, message } = await rejection(makeOwnUser(admin(), at('second:own')));
    expect(name).to.equal('EventStoreUnavailable');
    expect(message).to.include('$all needs an admin or an ACL');
  });

  it('is created by the program with exit code 0; a wrong variable gives exit code 2 without its password', async () => {
    const run = async (env: Record<string, string>) =>
      promisify(execFile)(process.execPath, [PROGRAM], { env: { PATH: process.env['PATH'] ?? '', ...env } }).then(
        ({ stdout }) => ({ code: 0, says: stdout }),
        ({ code, stderr }: { code: number; stderr: string }) => ({ code, says: stderr }),
      );
    expect(await run({ EVENTSTORE_ADMIN_URL: admin(), EVENTSTORE_URL: at('quita:own') })).to.deep.equal({
      code: 0,
      says: 'The user quita was created and can now read $all\n',
    });
    for (const wrong of [{}, { EVENTSTORE_ADMIN_URL: admin(), EVENTSTORE_URL: at('admin:secret-word') }]) {
      const { code, says } = await run(wrong);
      expect(code).to.equal(2);
      expect(says)
        .to.match(/^quita: EVENTSTORE_URL, EVENTSTORE_ADMIN_URL: [^\n]+\n$/)
        .and.not.include('secret-word');
    }
  });
});
