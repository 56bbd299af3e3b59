// Tests the test server with the published client: TLS and access rights. The client sends credentials over TLS only.
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { RECEIVER } from '../tls/certificates.ts';
import { all, event, failureOf, RealClients } from './realClient.ts';
import { EventStoreDbServer } from './server.ts';

const CA_FILE = fileURLToPath(new URL('../tls/receiver.cert.pem', import.meta.url));
const DENIED = { type: 'access-denied', code: 7 };
/** Batch append packs its errors without a code. */
const DENIED_IN_BATCH = { type: 'access-denied', code: undefined };
const NOT_AUTHENTICATED = { type: 'access-denied', code: 16 };

describe('access to the EventStoreDB test server', () => {
  let server: EventStoreDbServer;
  const clients = new RealClients();

  before(async () => {
    server = await EventStoreDbServer.start({
      tls: RECEIVER,
      users: { admin: { password: 'changeit', admin: true }, quita: { password: 'p:w', admin: false } },
    });
  });
  afterEach(() => clients.dispose());
  after(() => server.stop());

  const as = (credentials: string) =>
    clients.openAt(`esdb://${credentials}localhost:${server.port}?tls=true&tlsCAFile=${encodeURIComponent(CA_FILE)}`);
  const refusal = async (work: Promise<unknown>) => {
    const { type, code } = await failureOf(work);
    return { type, code };
  };

  it('allows an admin everything', async () => {
    const client = as('admin:changeit@');
    expect((await client.appendToStream('payment-1', event())).success).to.equal(true);
    expect((await all(client.readAll())).length).to.be.greaterThan(1);
    expect(await all(client.readStream('$users'))).to.have.length(1);
  });

  it('allows a user to use streams, but not $all or system streams', async () => {
    const client = as('quita:p%3Aw@');
    expect((await client.appendToStream('payment-2', event())).success).to.equal(true);
    expect(await all(client.readStream('payment-2'))).to.have.length(1);
    expect(await refusal(all(client.readAll()))).to.deep.equal(DENIED);
    expect(await refusal(all(client.subscribeToAll()))).to.deep.equal(DENIED);
    expect(await refusal(all(client.readStream('$users')))).to.deep.equal(DENIED);
    expect(await refusal(client.appendToStream('$users', event()))).to.deep.equal(DENIED_IN_BATCH);
  });

  it('denies everything without credentials', async () => {
    const client = as('');
    expect(await refusal(all(client.readStream('payment-1')))).to.deep.equal(DENIED);
    expect(await refusal(all(client.subscribeToStream('payment-1')))).to.deep.equal(DENIED);
    expect(await refusal(client.deleteStream('payment-1'))).to.deep.equal(DENIED);
    expect(await refusal(client.appendToStream('payment-1', event()))).to.deep.equal(DENIED_IN_BATCH);
  });

  for (const wrong of ['admin:guess@', 'nobody:changeit@']) {
    it(`rejects ${wrong} with code 16`, async () => {
      const client = as(wrong);
      expect(await refusal(all(client.readStream('payment-1')))).to.deep.equal(NOT_AUTHENTICATED);
      expect(await refusal(client.appendToStream('payment-1', event()))).to.deep.equal(NOT_AUTHENTICATED);
      const credentials = { username: 'admin', password: 'guess' };
      const classic = client.appendToStream('payment-1', event(), { credentials });
      expect(await refusal(classic)).to.deep.equal(NOT_AUTHENTICATED);
    });
  }
});
