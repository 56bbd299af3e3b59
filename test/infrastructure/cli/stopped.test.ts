// A command that is stopped by a signal, and a command that fails.
import { expect } from 'chai';
import type { CompleteCommand } from '../../../infrastructure/cli/command.ts';
import { runCli } from '../../../infrastructure/cli/run.ts';

const working = (work: (signal: AbortSignal) => Promise<never>): CompleteCommand => ({
  name: 'work',
  summary: 'Work',
  args: [],
  options: {},
  isLocal: true,
  run: ({ signal }) => work(signal),
});

const said = async (command: CompleteCommand): Promise<{ readonly code: number; readonly err: string }> => {
  const written: string[] = [];
  const out = { write: (text: string) => void written.push(text) };
  const code = await runCli([command], ['work'], {}, out, out);
  return { code, err: written.join('') };
};

describe('a running command', () => {
  it('reports a stop by a signal and exits with code 1', async () => {
    const others = process.listeners('SIGTERM');
    process.removeAllListeners('SIGTERM');
    try {
      const work = working(async (signal) => {
        process.emit('SIGTERM', 'SIGTERM');
        signal.throwIfAborted();
        throw new Error('the signal was not heard');
      });
      expect(await said(work)).to.deep.equal({ code: 1, err: 'quita: stopped\n' });
      expect(process.listeners('SIGTERM')).to.deep.equal([]);
    } finally {
      for (const listener of others) process.on('SIGTERM', listener);
    }
  });
  it('reports an unexpected error in one line and exits with code 1', async () => {
    const { code, err } = await said(working(() => Promise.reject(new TypeError('oops\n  twice'))));
    expect(code).to.equal(1);
    expect(err).to.match(/^quita: unexpected error: TypeError: oops twice \(in .*; set LOG_LEVEL=debug .*\n$/);
  });
});
