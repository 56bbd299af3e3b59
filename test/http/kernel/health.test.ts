// Health and metrics of a process, as an orchestrator sees them.

import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { addressLimit, Overload, rateLimit } from '../../../http/kernel/admission.ts';
import { createApp } from '../../../http/kernel/app.ts';
import { OPERATIONS_ROUTES } from '../../../http/kernel/health.ts';
import { MinuteWindows } from '../../../http/kernel/minuteWindows.ts';
import type { AppServices, Operations } from '../../../http/kernel/serverContext.ts';

const windows = new MinuteWindows({ remembered: 100, takeShares: null });
const appOf = (operations: Operations) =>
  createApp({
    services: { baseUrl: 'http://127.0.0.1', operations } as AppServices,
    routes: OPERATIONS_ROUTES,
    rateLimit: rateLimit(windows, 0),
    addressLimit: addressLimit(windows),
    overload: new Overload(),
    newRequestId: () => 'req_1',
    errorPage: null,
    onSecurityEvent: () => undefined,
    onOperatorRequest: () => undefined,
    beginRequest: () => () => undefined,
    trustProxy: false,
    onFault: (error) => {
      throw error;
    },
  });

describe('GET /health/ready', () => {
  const answers = async (reason: string | null, parkedStreams = 0, stopped: string | null = null) => {
    const app = appOf({
      unreadiness: async () => reason,
      parkedStreams: () => parkedStreams,
      auditStopped: async () => stopped,
      securityLines: () => [],
      metrics: async () => ({ contentType: 'text/plain', text: '' }),
      metricsToken: null,
      metricsOnLoopback: true,
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

  it('returns 200 if nothing prevents readiness', async () => {
    const ready = [200, { status: 'ready' }];
    expect(await answers(null)).to.deep.equal([ready, ready, [200, { status: 'live' }]]);
  });

  it('returns 503 with the reason, while /health/live returns 200', async () => {
    const reason = 'the event log rejects events: it was sealed or moved';
    const notReady = [503, { status: 'not_ready', reason }];
    expect(await answers(reason)).to.deep.equal([notReady, notReady, [200, { status: 'live' }]]);
  });

  it('reports the number of parked streams, ready or not, without changing its status', async () => {
    const live = [200, { status: 'live' }];
    const ready = [200, { status: 'ready', parked: { streams: 3 } }];
    expect(await answers(null, 3)).to.deep.equal([ready, ready, live]);
    const notReady = [503, { status: 'not_ready', reason: 'behind', parked: { streams: 1 } }];
    expect(await answers('behind', 1)).to.deep.equal([notReady, notReady, live]);
  });

  it('reports that the audit log stopped, ready or not, without changing its status', async () => {
    const live = [200, { status: 'live' }];
    const ready = [200, { status: 'ready', audit: { stopped: 'why' } }];
    expect(await answers(null, 0, 'why')).to.deep.equal([ready, ready, live]);
    const notReady = [503, { status: 'not_ready', reason: 'behind', audit: { stopped: 'why' } }];
    expect(await answers('behind', 0, 'why')).to.deep.equal([notReady, notReady, live]);
  });
});

describe('GET /metrics', () => {
  type Asked = Record<string, string>;
  /** Returns the status of each request, given the request’s headers. */
  const statuses = async (
    rule: { readonly metricsToken: string | null; readonly metricsOnLoopback: boolean },
    ...asked: readonly Asked[]
  ): Promise<readonly number[]> => {
    const metrics = async () => ({ contentType: 'text/plain', text: 'quita 1' });
    const app = appOf({
      unreadiness: async () => null,
      parkedStreams: () => 0,
      auditStopped: async () => null,
      securityLines: () => [],
      metrics,
      ...rule,
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const told = asked.map(async (headers) => {
      const sent = request({ host: '127.0.0.1', port, path: '/metrics', headers, agent: false }).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode ?? 0;
    });
    const all = await Promise.all(told);
    server.close();
    return all;
  };
  const hosts = (...names: readonly string[]): readonly Asked[] => names.map((host) => ({ host }));
  const open = { metricsToken: null, metricsOnLoopback: true };

  it('answers a loopback Host without a token', async () => {
    const here = hosts(
      'localhost',
      'LOCALHOST:3000',
      '127.0.0.1',
      '127.0.0.1:80',
      '[::1]',
      '[::1]:3000',
      '127.8.8.8:1',
    );
    expect(await statuses(open, ...here)).to.deep.equal(here.map(() => 200));
  });
  it('returns 404 to any other Host without a token', async () => {
    const elsewhere = hosts(
      'pay.example.com',
      '10.0.0.5:3000',
      '127.0.0.1.example.com',
      'localhost.example.com',
      '[fd00::1]',
      'x:localhost',
    );
    expect(await statuses(open, ...elsewhere)).to.deep.equal(elsewhere.map(() => 404));
  });
  it('returns 404 to forwarded requests without a token, whatever header marks them', async () => {
    const names = [
      'Forwarded',
      'Via',
      'X-Forwarded-For',
      'x-forwarded-host',
      'X-Forwarded-Proto',
      'X-Real-IP',
      'CF-Connecting-IP',
    ];
    const more = [
      'True-Client-IP',
      'X-Client-IP',
      'X-Cluster-Client-IP',
      'X-Original-Forwarded-For',
      'X-Envoy-External-Address',
      'Forwarded-For',
      'CDN-Loop',
      'X-AppEngine-User-IP',
    ];
    const forwarded = [...names, ...more].map((name) => ({ host: 'localhost', [name]: '127.0.0.1' }));
    expect(await statuses(open, ...forwarded)).to.deep.equal(forwarded.map(() => 404));
    expect(await statuses(open, { host: 'localhost', 'x-other': '1', accept: '*/*' })).to.deep.equal([200]);
  });
  it('returns 404 without a token if PUBLIC_URL is not loopback', async () => {
    expect(await statuses({ ...open, metricsOnLoopback: false }, { host: 'localhost' })).to.deep.equal([404]);
  });
  it('answers only requests with the token if one is configured, wherever PUBLIC_URL points', async () => {
    const token = '0123456789abcdef';
    const right = { host: 'pay.example.com', authorization: `Bearer ${token}`, 'x-forwarded-for': '10.0.0.1' };
    const wrong = [`Bearer ${token}x`, `Bearer ${token.slice(1)}`, token, '', `bearer ${token}`].map(
      (authorization) => ({
        host: 'localhost',
        authorization,
      }),
    );
    for (const metricsOnLoopback of [true, false])
      expect(
        await statuses({ metricsToken: token, metricsOnLoopback }, right, { host: 'localhost' }, ...wrong),
      ).to.deep.equal([200, 404, ...wrong.map(() => 404)]);
  });
});
