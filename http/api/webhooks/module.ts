// The HTTP module for webhook endpoints and deliveries.
import { httpModule } from '../../kernel/httpModule.ts';
import {
  deliveryStatsRoute,
  getDeliveryRoute,
  listDeliveriesRoute,
  redriveDeliveriesRoute,
  retryDeliveryRoute,
} from './deliveries.ts';
import { WEBHOOKS } from './deliverySchema.ts';
import {
  changeEndpointRoute,
  deleteEndpointRoute,
  listEndpointsRoute,
  pingEndpointRoute,
  registerEndpointRoute,
  rotateSecretRoute,
} from './endpoints.ts';
import { OPERATOR_DEAD_LETTER_ROUTES } from './operatorDeadLetters.ts';
import { eventCatalogueRoute, rotateOverrideSecretRoute } from './webhooks.ts';

export const webhooks = httpModule({
  name: 'webhooks',
  chapters: [WEBHOOKS],
  routes: [
    registerEndpointRoute,
    listEndpointsRoute,
    changeEndpointRoute,
    rotateSecretRoute,
    pingEndpointRoute,
    deleteEndpointRoute,
    listDeliveriesRoute,
    redriveDeliveriesRoute,
    getDeliveryRoute,
    retryDeliveryRoute,
    deliveryStatsRoute,
    rotateOverrideSecretRoute,
    eventCatalogueRoute,
    ...OPERATOR_DEAD_LETTER_ROUTES,
  ],
});
