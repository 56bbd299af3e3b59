import { dirname, join } from 'node:path';
import { expect } from 'chai';
import {
  BadConnectionString,
  readConnectionString,
} from '../../../../infrastructure/eventStore/eventStoreDb/settings.ts';

const CERTIFICATE = new URL('../../../support/tls/receiver.cert.pem', import.meta.url).pathname;

const FOLDER = dirname(CERTIFICATE);
const OTHER_KEY = join(FOLDER, 'elsewhere.key.pem');

const complaint = (text: string): string => {
  try {
    readConnectionString(text);
    return 'no complaint';
  } catch (error) {
    if (!(error instanceof BadConnectionString)) throw error;
    return error.message;
  }
};

describe('the connection string of EventStoreDB', () => {
  it('of one node gets defaults for missing options', () => {
    expect(readConnectionString('esdb://localhost:2113?tls=false')).to.deep.equal({
      hosts: [{ address: 'localhost', port: 2113 }],
      discover: false,
      nodePreference: 'leader',
      maxDiscoverAttempts: 10,
      discoveryIntervalMs: 100,
      gossipTimeoutS: 2,
      tls: null,
      credentials: null,
      keepAliveIntervalMs: 4_000,
      keepAliveTimeoutMs: 4_000,
      connectionName: 'quita',
    });
  });

  it('of a cluster keeps all options', () => {
    const options = `nodePreference=follower&maxDiscoverAttempts=3&discoveryInterval=50&gossipTimeout=1&connectionName=a%20b`;
    const text = `esdb+discover://us%40er:p%3Aw@a.test:1,b.test:2?${options}&keepAliveInterval=5000&keepAliveTimeout=4000&tlsCAFile=${CERTIFICATE}`;
    const { tls, ...rest } = readConnectionString(text);
    expect(tls?.ca?.toString('utf8')).to.match(/^-----BEGIN CERTIFICATE-----/);
    expect(rest).to.deep.equal({
      hosts: [
        { address: 'a.test', port: 1 },
        { address: 'b.test', port: 2 },
      ],
      discover: true,
      nodePreference: 'follower',
      maxDiscoverAttempts: 3,
      discoveryIntervalMs: 50,
      gossipTimeoutS: 1,
      credentials: { username: 'us@er', password: 'p:w' },
      keepAliveIntervalMs: 5_000,
      keepAliveTimeoutMs: 4_000,
      connectionName: 'a b',
    });
  });

  it('requests discovery if it has several nodes or the discover scheme', () => {
    const discovers = ['esdb://a:1', 'esdb://a:1,b:2', 'esdb+discover://a:1'].map(
      (text) => readConnectionString(`${text}?tls=false`).discover,
    );
    expect(discovers).to.deep.equal([false, true, true]);
  });

  it('may start with Kurrent’s scheme', () => {
    for (const rest of [
      '://localhost:2113?tls=false',
      '://user:kurrentdb@a:1,b:2?tls=false',
      '+discover://a:1?tls=false',
    ])
      expect(readConnectionString(`kurrentdb${rest}`)).to.deep.equal(readConnectionString(`esdb${rest}`));
    for (const text of ['kurrentdb', 'kurrentdb:', 'kurrentdb2://a:1', 'kurrentdb+discovery://a:1'])
      expect(complaint(text), text).to.include('must start with esdb://');
    expect(complaint('kurrentdb://admin:secret-word@localhost:2113?tls')).to.not.include('secret-word');
  });

  it('is rejected with the option’s name if the client would ignore or misread it', () => {
    for (const [text, says] of [
      ['postgres://localhost', 'must start with esdb://'],
      ['esdb://', 'is invalid'],
      ['esdb://localhost:2113?tls', 'is invalid'],
      ['esdb://localhost:2113?tlsVerifyCert=false', 'tlsCAFile'],
      ['esdb://localhost:2113?tls=true&TLSVERIFYCERT=false', 'tlsCAFile'],
      ['esdb://localhost:2113?throwOnAppendFailure=false', 'throwOnAppendFailure'],
      ['esdb://localhost:2113?keepAliveInterval=-1', 'keepAliveInterval'],
      ['esdb://localhost:2113?keepAliveTimeout=-1', 'keepAliveInterval'],
      ['esdb://localhost:2113?tlsCAFile=/no/such/file', '/no/such/file'],
      [`esdb://localhost:2113?tlsCAFile=${FOLDER}`, `tlsCAFile: the file ${FOLDER} can't be read (EISDIR)`],
      [`esdb://localhost:2113?userCertFile=${CERTIFICATE}`, 'must be set together'],
      [`esdb://localhost:2113?userCertFile=${CERTIFICATE}&userKeyFile=${CERTIFICATE}`, 'a certificate and its key'],
      [`esdb://localhost:2113?userCertFile=${CERTIFICATE}&userKeyFile=${OTHER_KEY}`, 'a certificate and its key'],
    ] as const) {
      expect(complaint(text), text).to.include(says);
    }
  });

  it('never shows its password in an error', () => {
    for (const tail of ['?tls', '?tlsVerifyCert=false', ':x:y', '?keepAliveInterval=-1']) {
      expect(complaint(`esdb://admin:secret-word@localhost:2113${tail}`)).to.not.include('secret-word');
    }
  });
});
