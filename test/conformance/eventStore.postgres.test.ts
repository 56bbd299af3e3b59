import { postgresHarness } from '../support/postgresEventLog.ts';
import { eventStoreConformance } from './eventStore.ts';

eventStoreConformance('postgres', postgresHarness);
