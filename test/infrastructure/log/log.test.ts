// How the log shows an error.
import { expect } from 'chai';
import { openLog, securityLines, warnings } from '../../../infrastructure/log/log.ts';

const logged = (error: unknown): Record<string, unknown> => {
  const lines: string[] = [];
  warnings(openLog('info', { write: (line) => void lines.push(line) }))('it failed')(error as Error);
  expect(lines).to.have.length(1);
  expect(lines[0]).to.not.include('node_modules').and.not.include('    at ').and.not.include('stack');
  return (JSON.parse(lines[0] as string) as { err: Record<string, unknown> }).err;
};

describe('an error in the log', () => {
  it('has its name, message, code and location, and none of its other properties', () => {
    const error = Object.assign(new TypeError('away'), {
      code: '08006',
      detail: 'Key (email)=(ana@example.com)',
      parameters: ['a secret'],
      cause: new Error('another secret'),
    });
    const { where, ...rest } = logged(error);
    expect(rest).to.deep.equal({ name: 'TypeError', message: 'away', code: '08006' });
    expect(where).to.match(/^\S.*, test\/infrastructure\/log\/log\.test\.ts, line \d+$/);
  });
  it('has no location if it comes from elsewhere or has no stack', () => {
    const foreign = Object.assign(new Error('away'), { stack: 'Error: away\n    at Client.x (/srv/pg/client.js:1:2)' });
    for (const error of [foreign, Object.assign(new Error('away'), { stack: undefined })])
      expect(logged(error)).to.deep.equal({ name: 'Error', message: 'away', where: null });
  });
  it('that is not an Error object is logged as text', () => expect(logged('away')).to.deep.equal({ message: 'away' }));
});

describe('the security lines of a log', () => {
  it('are the newest 100, newest first, as written, without lines of other kinds', () => {
    const written: string[] = [];
    const log = openLog('info', { write: (line) => void written.push(line) });
    for (let n = 0; n < 101; n++) log.warn({ security: 'login_failed', requestId: `${n}` }, 'login failed');
    log.info({ note: '"security":"login_failed"' }, 'about "security":');
    log.debug({ security: 'login_failed' }, 'below the level');
    const lines = securityLines(log);
    expect(lines.map(({ details }) => details['requestId'])).to.deep.equal(
      Array.from({ length: 100 }, (_, n) => String(100 - n)),
    );
    const { time } = JSON.parse(written[100] as string) as { time: string };
    const newest = { at: time, text: 'login failed', security: 'login_failed', details: { requestId: '100' } };
    expect(lines[0]).to.deep.equal(newest);
    expect(securityLines(openLog('info', { write: () => undefined }))).to.deep.equal([]);
  });
});
