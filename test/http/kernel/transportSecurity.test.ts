// HSTS with an https public URL (issue 18, point 8). Requests that reach no route: test/infrastructure/server/httpServer.test.ts.
import { expect } from 'chai';
import { TestGateway } from '../../world/gateway.ts';

describe('HSTS', () => {
  for (const [publicUrl, expected] of [
    ['https://pay.example', 'max-age=31536000'],
    ['http://pay.example', null],
  ] as const)
    it(`is ${expected === null ? 'not sent' : 'sent with every answer'} if the public URL is ${publicUrl}`, async () => {
      const gateway = await TestGateway.open({ publicUrl });
      for (const path of [
        '/',
        '/docs',
        '/v1/wallets',
        '/nowhere',
        '/v1/charges/%E0%A4%A',
        '/health/live',
        '/openapi.json',
      ])
        for (const method of ['GET', 'POST']) {
          const { headers } = await gateway.call(method, path);
          expect(headers.get('strict-transport-security'), `${method} ${path}`).to.equal(expected);
        }
      await gateway.close();
    });
});
