// What an orchestrator is told of a process.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { mountOperations } from '../../http/health.ts';

describe('GET /health/ready', () => {
  const answers = async (reason: string | null) => {
    const app = express();
    mountOperations(app, {
      unreadiness: async () => reason,
      metrics: async () => ({ contentType: 'text/plain', text: '' }),
      metricsToken: null,
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const told = [];
    for (const path of ['/health/ready', '/health/ready', '/health/live']) {
      const response = await fetch(base + path);
      told.push([response.status, await response.json()]);
    }
    server.closeAllConnections();
    server.close();
    return told;
  };

  it('is 200 when nothing is in the way', async () => {
    const ready = [200, { status: 'ready' }];
    expect(await answers(null)).to.deep.equal([ready, ready, [200, { status: 'live' }]]);
  });

  it('is 503 and says what is in the way, while the process is live', async () => {
    const reason = 'the event log takes no events: it was sealed or moved';
    const notReady = [503, { status: 'not_ready', reason }];
    expect(await answers(reason)).to.deep.equal([notReady, notReady, [200, { status: 'live' }]]);
  });
});
