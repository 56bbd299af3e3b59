// A paid Pix sends exactly the webhooks that the README lists for an endpoint with all events.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { TestGateway } from '../../../world/gateway.ts';

interface Shown {
  readonly eventType: string;
}

describe('the five webhooks of a paid Pix', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await TestGateway.open();
  });
  after(() => gateway.close());

  it('are the ones that the README lists', async () => {
    const readme = await readFile(new URL('../../../../README.md', import.meta.url), 'utf8');
    const table = readme.slice(
      readme.indexOf('**five webhooks for each paid Pix**'),
      readme.indexOf('### Verifying a webhook'),
    );
    const listed = [...table.matchAll(/`((?:charge|payment)\.\w+)`/g)].map(([, name]) => name);
    const hook = { url: 'http://127.0.0.1:9999/hooks', events: ['*'] };
    expect((await gateway.post('/v1/webhooks/endpoints', hook)).status).to.equal(201);
    const { body } = await gateway.charge();
    const paid = await gateway.post(`/v1/sandbox/charges/${body['id']}/pay`);
    expect(paid.body['outcome']).to.equal('settled');
    await gateway.post('/v1/sandbox/deliveries/flush');
    const { body: sent } = await gateway.get<{ data: Shown[] }>('/v1/webhooks/deliveries');
    expect(sent.data.map(({ eventType }) => eventType)).to.have.members(listed as string[]);
    expect(listed).to.have.length(5);
  });
});
