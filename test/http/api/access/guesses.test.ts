// Guessing one user’s password delays neither that user nor anyone else (rule D2). Hashes cost what they cost in production.
import { expect } from 'chai';
import { OWASP_PARAMETERS } from '../../../../infrastructure/secrets/passwordHasher.ts';
import type { TestGateway, TestUser } from '../../../world/gateway.ts';
import { openReady } from '../../../world/http.ts';

const GUESSES = 60;
const [OWNER_MS, STRANGER_MS] = [12_000, 2_000];

describe('while 60 guesses for one user are in flight', function suite() {
  this.timeout(60_000);
  this.retries(2); // other programs may be using the processors
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady({ trustProxy: 1, passwordParameters: OWASP_PARAMETERS, loginsPerMinute: 20 });
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const logIn = async (email: string, password: string, address: string) => {
    const began = performance.now();
    const { status } = await gateway.post(
      '/v1/auth/login',
      { email, password },
      { key: null, headers: { 'x-forwarded-for': address } },
    );
    return { status, ms: performance.now() - began };
  };
  /** Keeps GUESSES wrong logins in flight, from 250 addresses in turn. The returned function stops them and returns the statuses seen. */
  const guessing = (email: string) => {
    let isOn = true;
    let next = 0;
    const statuses = new Set<number>();
    const guesser = async () => {
      while (isOn) {
        next += 1;
        statuses.add((await logIn(email, `guess number ${next}`, `192.0.2.${next % 250}`)).status);
      }
    };
    const guessers = Array.from({ length: GUESSES }, guesser);
    return async () => {
      isOn = false;
      await Promise.all(guessers);
      return [...statuses];
    };
  };

  const expectJudged = async (user: TestUser, stranger: TestUser) => {
    const stop = guessing(user.email);
    const [own, others, unknown] = await Promise.all([
      logIn(user.email, user.password, '198.51.100.1'),
      logIn(stranger.email, stranger.password, '198.51.100.2'),
      logIn('nobody@example.com', 'x', '198.51.100.3'),
    ]);
    expect([own.status, others.status, unknown.status]).to.deep.equal([200, 200, 401]);
    expect(own.ms).to.be.below(OWNER_MS);
    expect(Math.max(others.ms, unknown.ms)).to.be.below(STRANGER_MS);
    expect(await stop()).to.deep.equal([401]);
  };
  it('answers the user, another user and an unknown address in time', async () => {
    await expectJudged(await gateway.addUser(), await gateway.addUser());
  });
  it('answers them in time after 200 failures, when each answer for the user waits 10 s', async () => {
    const user = await gateway.addUser();
    const { failures } = gateway.gateway.needs;
    for (let i = 0; i < 200; i++) await failures.record(user.email);
    await expectJudged(user, await gateway.addUser());
  });
});
