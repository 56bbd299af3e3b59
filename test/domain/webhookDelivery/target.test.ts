// The target of a delivery: deliveries to the same target succeed or fail together (rules W3, W7).
import { expect } from 'chai';
import type { EndpointId } from '../../../domain/kernel/ids.ts';
import { targetOf } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { ACCOUNT_ID } from '../../support/samples.ts';

const ENDPOINT_ID = '00000000000000000000000003' as EndpointId;
const toUrl = (url: string, mode: 'test' | 'live' = 'test') =>
  targetOf({ endpointId: null, url, accountId: ACCOUNT_ID, mode });

describe('targetOf', () => {
  it('returns the id of an endpoint', () =>
    void expect(targetOf({ endpointId: ENDPOINT_ID, url: null, accountId: ACCOUNT_ID, mode: 'test' })).to.equal(
      ENDPOINT_ID,
    ));
  it('returns account, mode and host with port for a payment’s own URL', () => {
    expect(toUrl('https://Shop.example/a?b=https://c.example#d')).to.equal(`${ACCOUNT_ID}/test/shop.example`);
    expect(toUrl('http://shop.example:8080')).to.equal(`${ACCOUNT_ID}/test/shop.example:8080`);
    expect(toUrl('HTTP://[::1]:3000?x', 'live')).to.equal(`${ACCOUNT_ID}/live/[::1]:3000`);
  });
  it('never throws and returns text that is not a URL unchanged', () => {
    expect(toUrl('not a URL')).to.equal(`${ACCOUNT_ID}/test/not a URL`);
    expect(toUrl('')).to.equal(`${ACCOUNT_ID}/test/`);
  });
});
