// Security events in the log (infrastructure/monitoring/securityLog.ts).
import { Writable } from 'node:stream';
import { expect } from 'chai';
import pino from 'pino';
import type { SecurityEvent } from '../../../application/ports/securityEvents.ts';
import { securityLog } from '../../../infrastructure/monitoring/securityLog.ts';

const failed = (requestId: string): SecurityEvent => ({
  security: 'authentication_failed',
  reason: 'missing',
  network: '203.0.113.0/24',
  requestId,
});

/** Returns a log, and a way to wait until it has a number of lines. */
const logged = () => {
  const lines: Record<string, unknown>[] = [];
  let wanted = Number.POSITIVE_INFINITY;
  let there = Promise.withResolvers<void>();
  const out = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      const { level: _, time: __, msg: ___, ...line } = JSON.parse(chunk.toString()) as Record<string, unknown>;
      lines.push(line);
      if (lines.length >= wanted) there.resolve();
      done();
    },
  });
  const untilLines = (count: number) => {
    wanted = count;
    there = Promise.withResolvers();
    if (lines.length >= count) there.resolve();
    return there.promise;
  };
  return { log: pino({ base: null }, out), lines, untilLines };
};

describe('the security log', () => {
  it('writes a line for each event, with its name in the field security', () => {
    const { log, lines } = logged();
    const tell = securityLog(log);
    const limited = { security: 'rate_limited', perMinute: 5, actor: 'key:0011223344556677', requestId: 'b' } as const;
    const forwarding = { security: 'forwarding_header_untrusted', header: 'x-forwarded-for' } as const;
    for (const event of [failed('a'), limited, forwarding, failed('a')]) tell(event);
    expect(lines).to.deep.equal([failed('a'), limited, forwarding, failed('a')]);
  });
  it('limits lines per event and interval, then writes the number of dropped lines, and starts again', async () => {
    const { log, lines, untilLines } = logged();
    const tell = securityLog(log, 3, 30);
    const other = { security: 'forwarding_header_untrusted', header: 'via' } as const;
    for (let round = 0; round < 2; round++) {
      lines.splice(0);
      for (let i = 0; i < 10; i++) tell(failed(String(i)));
      if (round === 0) tell(other); // a flood of one event hides no other
      await untilLines(round === 0 ? 5 : 4);
      const count = { security: 'authentication_failed', unlogged: 7 };
      expect(lines).to.deep.equal([...['0', '1', '2'].map(failed), ...(round === 0 ? [other] : []), count]);
    }
  });
});
