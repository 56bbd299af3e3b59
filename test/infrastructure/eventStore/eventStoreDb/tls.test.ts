// The adapter over TLS with credentials: what works, and the error message for each misconfiguration.
import { expect } from 'chai';
import { EventStoreUnavailable } from '../../../../application/ports/eventStore.ts';
import { diagnoseEventStoreDb } from '../../../../infrastructure/eventStore/eventStoreDb/diagnose.ts';
import { TIMINGS } from '../../../../infrastructure/eventStore/eventStoreDb/settings.ts';
import { openEventStoreDb } from '../../../../infrastructure/eventStore/eventStoreDb/store.ts';
import { newEvents, newStream } from '../../../conformance/eventStore/harness.ts';
import { type EventStoreDbOptions, EventStoreDbServer } from '../../../support/eventStoreDb/server.ts';
import { caFileOf, ELSEWHERE, EXPIRED, RECEIVER } from '../../../support/tls/certificates.ts';
import { PATIENT, QUICK, rejection } from './support.ts';

const USERS = { admin: { password: 'p:w', admin: true } };

describe('EventStoreDB over TLS', () => {
  let server: EventStoreDbServer;
  afterEach(() => server.stop());

  const start = async (options: EventStoreDbOptions): Promise<void> => {
    server = await EventStoreDbServer.start(options);
  };
  const open = (connectionString: string, timings = PATIENT) => openEventStoreDb({ connectionString, timings });
  /** Gives up early, but only after it knows the cause. */
  const PLAINTIVE = { ...QUICK, connectMs: 5_000, readMs: 5_000 };
  const at = (host: string, options: string, login = 'admin:p%3Aw@'): string =>
    `esdb://${login}${host}:${server.port}?tls=true${options}`;
  const trusting = (name: 'receiver' | 'expired' | 'elsewhere'): string => `&tlsCAFile=${caFileOf(name)}`;
  const complaint = async (connectionString: string): Promise<string> => {
    const error = await rejection(open(connectionString, PLAINTIVE));
    expect(error).to.be.instanceOf(EventStoreUnavailable);
    return error.message.replaceAll(String(server.port), 'PORT');
  };
  const unreachable = (host: string, why: string): string =>
    `EventStoreDB cannot be read: the node ${host}:PORT cannot be reached: ${why}`;

  it('appends and reads with the right authority and password, by name and by address, also after a disconnect', async () => {
    await start({ tls: RECEIVER, users: USERS });
    for (const host of ['localhost', '127.0.0.1']) {
      const store = await open(at(host, trusting('receiver')));
      const stream = newStream();
      expect(await store.append(stream, -1, newEvents(2))).to.include({ ok: true, revision: 1 });
      server.cut();
      expect(await store.append(stream, 1, newEvents(1))).to.include({ ok: true, revision: 2 });
      await store.close();
    }
  });

  it('names tlsCAFile if the authority is unknown or a different one', async () => {
    await start({ tls: RECEIVER, users: USERS });
    const unknown = 'its certificate authority is unknown: set tlsCAFile=… in the connection string';
    expect(await complaint(at('localhost', ''))).to.equal(unreachable('localhost', unknown));
    const other = 'its certificate was not issued by the authority in tlsCAFile';
    expect(await complaint(at('localhost', trusting('expired')))).to.equal(unreachable('localhost', other));
  });

  it('reports the same to doctor', async () => {
    await start({ tls: RECEIVER, users: USERS });
    const findings = await diagnoseEventStoreDb(at('localhost', ''), { ...TIMINGS, ...PLAINTIVE });
    expect(findings).to.have.length(1);
    expect(findings[0]?.says).to.match(/^the node .* set tlsCAFile=… in the connection string$/);
  });

  it('names the certificate’s host if it differs', async () => {
    await start({ tls: ELSEWHERE, users: USERS });
    for (const host of ['localhost', '127.0.0.1'])
      expect(await complaint(at(host, trusting('elsewhere')))).to.equal(
        unreachable(
          host,
          `its certificate is not for ${host} but for DNS:elsewhere.example.test: use such a name in the connection string`,
        ),
      );
  });

  it('reports an expired certificate', async () => {
    await start({ tls: EXPIRED, users: USERS });
    expect(await complaint(at('localhost', trusting('expired')))).to.equal(
      unreachable('localhost', 'its certificate has expired'),
    );
  });

  it('reports a server without TLS', async () => {
    await start({});
    expect(await complaint(at('localhost', ''))).to.equal(
      unreachable('localhost', 'it does not use TLS: to connect without TLS, set tls=false in the connection string'),
    );
  });

  for (const [what, login] of [
    ['password', 'admin:guess@'],
    ['user', 'nobody:p%3Aw@'],
  ] as const)
    it(`reports a wrong ${what} without showing the password`, async () => {
      await start({ tls: RECEIVER, users: USERS });
      expect(await complaint(at('localhost', trusting('receiver'), login))).to.equal(
        'EventStoreDB cannot be read: EventStoreDB rejected ' +
          'the user or password in the connection string (Bad credentials.)',
      );
    });

  it('reports missing credentials', async () => {
    await start({ tls: RECEIVER, users: USERS });
    expect(await complaint(at('localhost', trusting('receiver'), ''))).to.contain(
      'Access Denied (check the user in the connection string',
    );
  });

  it('keeps trying while the server restarts', async () => {
    await start({ tls: RECEIVER, users: USERS });
    const store = await open(at('localhost', trusting('receiver')));
    await server.stop();
    const appended = store.append(newStream(), -1, newEvents(1));
    await server.restart();
    expect(await appended).to.include({ ok: true, revision: 0 });
    await store.close();
  });
});
