// The contract of application/ports/eventStore.ts as tests. An adapter’s test file only provides a harness.
import type { DeletesDeliveries } from '../../application/ports/deliveryRetention.ts';
import type { EventStore } from '../../application/ports/eventStore.ts';
import { appending } from './eventStore/appending.ts';
import { deleting } from './eventStore/deleting.ts';
import { faults } from './eventStore/faults.ts';
import { type EventStoreHarness, type LogUnderTest, useLog } from './eventStore/harness.ts';
import { reading } from './eventStore/reading.ts';
import { restoring } from './eventStore/restoring.ts';
import { subscribing } from './eventStore/subscribing.ts';
import { untouched } from './eventStore/untouched.ts';

export type { EventStoreHarness, HeldAppend, LogUnderTest } from './eventStore/harness.ts';

export function eventStoreConformance(name: string, harness: EventStoreHarness): void {
  describe(`event store conformance: ${name}`, () => {
    let log: LogUnderTest;
    let store: EventStore & DeletesDeliveries;

    useLog(
      () => harness.createLog(),
      (opened, instance) => {
        log = opened;
        store = instance;
      },
    );

    untouched(harness);
    restoring(harness);
    appending(() => store);
    reading(
      () => log,
      () => store,
    );
    subscribing(
      () => log,
      () => store,
    );
    deleting(
      () => log,
      () => store,
    );
    faults(
      () => log,
      () => store,
    );
  });
}
