// What deliveries share that succeed or fail together (rules W3, W7).
import { expect } from 'chai';
import type { EndpointId } from '../../../domain/kernel/ids.ts';
import { targetOf } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { ACCOUNT_ID } from '../../support/samples.ts';

const ENDPOINT_ID = '00000000000000000000000003' as EndpointId;
const toUrl = (url: string, mode: 'test' | 'live' = 'test') =>
  targetOf({ endpointId: null, url, accountId: ACCOUNT_ID, mode });

describe('targetOf', () => {
  it('an endpoint’s own id', () =>
    void expect(targetOf({ endpointId: ENDPOINT_ID, url: null, accountId: ACCOUNT_ID, mode: 'test' })).to.equal(
      ENDPOINT_ID,
    ));
  it('of a payment’s URL: account, mode, and host with its port', () => {
    expect(toUrl('https://Shop.example/a?b=https://c.example#d')).to.equal(`${ACCOUNT_ID}/test/shop.example`);
    expect(toUrl('http://shop.example:8080')).to.equal(`${ACCOUNT_ID}/test/shop.example:8080`);
    expect(toUrl('HTTP://[::1]:3000?x', 'live')).to.equal(`${ACCOUNT_ID}/live/[::1]:3000`);
  });
  it('never throws: what is no URL stands for itself', () => {
    expect(toUrl('not a URL')).to.equal(`${ACCOUNT_ID}/test/not a URL`);
    expect(toUrl('')).to.equal(`${ACCOUNT_ID}/test/`);
  });
});
