import { expect } from 'chai';
import { readConnectionString } from '../../../infrastructure/eventStore/eventStoreDb/settings.ts';
import { caFileOf } from '../tls/certificates.ts';
import { givenEventStoreDb, throughPort } from './given.ts';

const URL_ALONE = { TEST_EVENTSTORE_URL: 'esdb://localhost:2113' };

describe('the EventStoreDB that the environment selects', () => {
  it('is null without an address, even if the rest is set', () => {
    expect(givenEventStoreDb({})).to.equal(null);
    expect(givenEventStoreDb({ TEST_EVENTSTORE_URL: '', TEST_EVENTSTORE_USERNAME: 'admin' })).to.equal(null);
  });

  it('is the plain address if nothing else is set', () => {
    expect(givenEventStoreDb(URL_ALONE)).to.equal('esdb://localhost:2113');
  });

  it('includes the certificate authority and the user, whatever characters they contain', () => {
    for (const url of ['esdb://localhost:2113', 'esdb://localhost:2113?tls=true']) {
      const text = givenEventStoreDb({
        TEST_EVENTSTORE_URL: url,
        TEST_EVENTSTORE_CA_FILE: caFileOf('receiver'),
        TEST_EVENTSTORE_USERNAME: 'us@er',
        TEST_EVENTSTORE_PASSWORD: 'p:w/%?#',
      });
      const { hosts, credentials, tls } = readConnectionString(text as string);
      expect(hosts).to.deep.equal([{ address: 'localhost', port: 2113 }]);
      expect(credentials).to.deep.equal({ username: 'us@er', password: 'p:w/%?#' });
      expect(tls?.ca?.toString('utf8')).to.match(/^-----BEGIN CERTIFICATE-----/);
    }
  });

  it('is rejected with only a username or only a password', () => {
    for (const half of ['USERNAME', 'PASSWORD'])
      expect(() => givenEventStoreDb({ ...URL_ALONE, [`TEST_EVENTSTORE_${half}`]: 'admin' })).to.throw('go together');
  });

  it('is reached through a proxy by its own name if it is on loopback, and by 127.0.0.1 otherwise', () => {
    expect(throughPort('esdb://a:b@localhost:2113?tls=true', 7)).to.equal('esdb://a:b@localhost:7?tls=true');
    expect(throughPort('esdb://127.0.0.1:2113', 7)).to.equal('esdb://127.0.0.1:7');
    expect(throughPort('esdb://node.test?tls=true', 7)).to.equal('esdb://127.0.0.1:7?tls=true');
  });
});
