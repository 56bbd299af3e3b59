// Keys are rotated and revoked under load on two API processes, one of which receives no notifications from the database. Then each
// process in turn is frozen during the changes. `npm run soak:keys`; ROUNDS changes the number of rounds.
import { expect } from 'chai';
import { frozenBy, type KeyDeployment, startKeyDeployment } from '../support/keyDeployment.ts';
import { type KeyLoadResult, rotateUnderLoad } from '../support/keyRotations.ts';
import { type OwnPostgres, startOwnPostgres } from './deployment/ownPostgres.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 100);
/** Fewer rounds, because each change waits for the lease of the frozen process. */
const FROZEN_ROUNDS = Math.ceil(ROUNDS / 5);
const CONNECTIONS = 64;

const quantile = (values: readonly number[], of: number): string =>
  (values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * of)] as number).toFixed(0);

const judge = ({ requests, withDead, withLive, faults, tookMs }: KeyLoadResult): void => {
  console.log({ requests, withDead, withLive, faults, p50: quantile(tookMs, 0.5), p99: quantile(tookMs, 0.99) });
  // 503 is allowed, because a process that is cut off can’t know whether the read model is behind.
  expect(Object.keys(withDead).filter((status) => status !== '503')).to.deep.equal(['401']);
  expect(Object.keys(withLive)).to.deep.equal(['200']);
};

describe('keys rotated and revoked under load', function suite() {
  this.timeout(3_600_000);
  let postgres: OwnPostgres;
  let deployment: KeyDeployment;
  let load: Omit<Parameters<typeof rotateUnderLoad>[0], 'rounds'>;
  before(async () => {
    postgres = await startOwnPostgres();
    deployment = await startKeyDeployment(postgres.connectionString);
    const { hearing, deaf, authorization } = deployment;
    load = { baseUrls: [hearing.baseUrl, deaf.baseUrl], connections: CONNECTIONS, authorization };
  });
  after(async () => {
    await deployment?.stop();
    await postgres.stop();
  });

  it(`stop working in every process before the call returns, in ${ROUNDS} rounds of each`, async () => {
    judge(await rotateUnderLoad({ ...load, rounds: ROUNDS }));
    expect(deployment.proxy.swallowed).to.be.above(0);
  });

  for (const which of ['hearing', 'deaf'] as const)
    it(`stop working before a frozen ${which} process resumes, in ${FROZEN_ROUNDS} rounds of each`, async () => {
      judge(await rotateUnderLoad({ ...load, rounds: FROZEN_ROUNDS, frozen: frozenBy(deployment[which]) }));
    });
});
