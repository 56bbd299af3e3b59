// Password links and requests for them in Postgres, and how long each of them lives.
import { expect } from 'chai';
import { jobOfRequest, sendLink } from '../../../application/accounts/passwordLink.ts';
import type { LinkRequest } from '../../../application/ports/passwordLinks.ts';
import type { PasswordId, UserId } from '../../../domain/kernel/ids.ts';
import { passwordLinks } from '../../../infrastructure/accounts/passwordLinks.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { SecretsKeyring } from '../../../infrastructure/secrets/keyring.ts';
import { RecordingJobs } from '../../support/operations.ts';
import { useDatabase } from '../../world/postgres.ts';

const idOf = (n: number): string => String(n).padStart(26, '0');
const [ANA, BIA] = [idOf(1), idOf(2)] as [UserId, UserId];
const LINK = { userId: ANA, replaces: idOf(3) as PasswordId };

describe('password links in Postgres', () => {
  let db: PgPool;
  let jobs: RecordingJobs;
  let links: ReturnType<typeof passwordLinks>;
  useDatabase('suite', 2, (opened) => {
    db = opened;
  });
  beforeEach(async () => {
    await db.query('DELETE FROM operations.password_links');
    await db.query('DELETE FROM operations.password_link_requests');
    jobs = new RecordingJobs();
    links = passwordLinks(db, jobs, new SecretsKeyring([Buffer.alloc(32, 7)]));
  });

  const age = async (by: string) => {
    await db.query(`UPDATE operations.password_links
      SET expires_at = expires_at - interval '${by}', opened_at = opened_at - interval '${by}'`);
    await db.query(`UPDATE operations.password_link_requests SET requested_at = requested_at - interval '${by}'`);
  };
  const kept = async () => (await db.query('SELECT FROM operations.password_links')).rowCount;
  const request = async (n: number, email: string): Promise<LinkRequest> => {
    const asked = { requestId: idOf(n), purpose: 'reset', email } as const;
    await links.request(asked, { queue: sendLink.name, ...jobOfRequest(asked) });
    return asked;
  };
  const open = async (page = 100) => {
    const pages: string[][] = [];
    for await (const requests of links.openRequests(page)) pages.push(requests.map(({ requestId }) => requestId));
    return pages;
  };

  it('are valid for an hour after they were last opened, and are then deleted', async () => {
    await links.open('one', LINK);
    await age('50 minutes');
    await links.open('other', { ...LINK, userId: BIA, replaces: null });
    // A retried job does this if it was killed after it sent the mail.
    await links.open('one', LINK);
    await age('50 minutes');
    expect([await links.find('one'), await links.find('other')]).to.deep.equal([LINK, { userId: BIA, replaces: null }]);
    await links.forgetOld();
    expect(await kept()).to.equal(2);
    await age('10 minutes');
    expect([await links.find('one'), await links.find('other'), await kept()]).to.deep.equal([null, null, 2]);
    await links.forgetOld();
    expect(await kept()).to.equal(0);
  });
  it('of a user are counted for 15 minutes', async () => {
    await links.open('one', LINK);
    await age('10 minutes');
    await links.open('two', LINK);
    await links.open('of somebody else', { ...LINK, userId: BIA });
    expect([await links.countRecent(ANA), await links.countRecent(BIA)]).to.deep.equal([2, 1]);
    await age('5 minutes');
    expect([await links.countRecent(ANA), await links.countRecent(BIA)]).to.deep.equal([1, 1]);
  });
  it('have one open request and one job per address, ignoring case', async () => {
    const first = await request(1, 'Ana@example.com');
    await request(2, 'ANA@example.com');
    await request(3, 'bia@example.com');
    expect(await open()).to.deep.equal([[first.requestId, idOf(3)]]);
    expect(jobs.enqueued.map(({ payload }) => payload)).to.deep.equal([
      { requestId: first.requestId },
      { requestId: idOf(3) },
    ]);
    expect(await links.findRequest(first.requestId)).to.deep.equal({ ...first, email: 'ana@example.com' });
    await links.endRequest(first.requestId);
    expect(await links.findRequest(first.requestId)).to.equal(null);
    await request(4, 'ana@example.com');
    expect(await open(1)).to.deep.equal([[idOf(3)], [idOf(4)], []]);
  });
  it('that could not be sent stay requested for a day and are then deleted', async () => {
    await request(1, 'ana@example.com');
    await age('20 hours');
    await links.forgetOld();
    expect(await open()).to.deep.equal([[idOf(1)]]);
    await age('4 hours');
    expect(await open()).to.deep.equal([[]]);
    expect(await links.findRequest(idOf(1))).to.not.equal(null);
    await links.forgetOld();
    expect(await links.findRequest(idOf(1))).to.equal(null);
  });
});
