// Providers: connections to banks and payment institutions, and their callbacks (rules V1–V10).
import { capability } from '../core/capability.ts';
import {
  type CallbackNeeds,
  type CallbackOperatorsNeeds,
  callbackGauges,
  callbackJobs,
  callbackUpkeep,
  callbackUseCases,
  operateCallbacks,
} from './callbacks.ts';
import {
  type CheckConnectionNeeds,
  checkProviderConnection,
  registerProviderWebhook,
  showProviderWebhook,
} from './checkConnection.ts';
import { type ConnectionGaugeNeeds, connectionGauges } from './connectionGauges.ts';
import {
  addProviderConnection,
  changeProviderConnection,
  type ManageConnectionsNeeds,
  removeProviderConnection,
  rotateProviderCallbackSecret,
  rotateProviderClientSecret,
  switchProviderConnection,
} from './manageConnections.ts';
import { listConnections, showConnection, shown, type ViewConnectionsNeeds } from './viewConnections.ts';

type ProvidersNeeds = CallbackNeeds & ConnectionGaugeNeeds;
type OperatorsNeeds = ManageConnectionsNeeds & ViewConnectionsNeeds & CheckConnectionNeeds & CallbackOperatorsNeeds;

export const providers = capability({
  name: 'providers',
  parts: (needs: ProvidersNeeds) => needs,
  jobs: [...callbackJobs],
  upkeep: [...callbackUpkeep],
  gauges: [...callbackGauges, ...connectionGauges],
  useCases: callbackUseCases,
  operators: (needs: OperatorsNeeds) => ({
    listConnections: listConnections(needs),
    showConnection: showConnection(needs),
    addProviderConnection: addProviderConnection(needs),
    changeProviderConnection: changeProviderConnection(needs),
    switchProviderConnection: switchProviderConnection(needs),
    removeProviderConnection: removeProviderConnection(needs),
    rotateProviderClientSecret: rotateProviderClientSecret(needs),
    rotateProviderCallbackSecret: rotateProviderCallbackSecret(needs),
    checkProviderConnection: checkProviderConnection(needs),
    registerProviderWebhook: registerProviderWebhook(needs),
    showProviderWebhook: showProviderWebhook(needs),
    ...operateCallbacks(needs),
  }),
});
