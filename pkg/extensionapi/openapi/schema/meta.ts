import { anyObject, array, boolean, integer, map, object, ref, type Schemas, string, time } from './schema.ts'

const plainText = { type: 'string' } as const

/** The members that every kind has: TypeMeta. */
export const typeMeta = {
  apiVersion: string('Group and version of the API that this object is written in, such as v1.'),
  kind: string('Name of the kind of this object, in CamelCase and singular.'),
}

/** metav1 as Kapis answers with it. Described here and not shared with other servers, whose wording may change. */
export const metaSchemas: Schemas = {
  ObjectMeta: object('Metadata that every object carries.', {
    name: string('Name of the object, unique for its kind within its namespace or the cluster.'),
    generateName: string('Prefix that the name was made from when none was given.'),
    namespace: string('Namespace of the object; empty for objects of the cluster.'),
    selfLink: string('No longer filled in by kube-apiserver.'),
    uid: string(
      'Identity of the object in time and space: an object of the same name made later has another.',
    ),
    resourceVersion: string(
      'Version of the object as stored. To be compared for equality, and handed back to watch from here on.',
    ),
    generation: integer('Counts the changes of the desired state.', 'int64'),
    creationTimestamp: time('When the object was created, in UTC.'),
    deletionTimestamp: time('When the object will be gone. Set by the server once deletion was asked for.'),
    deletionGracePeriodSeconds: integer(
      'Seconds that the object may take to end before it is removed.',
      'int64',
    ),
    labels: map('Keys and values to select objects by.', plainText),
    annotations: map('Keys and values that tools keep with the object. Not to select by.', plainText),
    ownerReferences: array(
      'Objects that this one depends on. It is collected when all of them are gone.',
      ref('OwnerReference'),
    ),
    finalizers: array('Parties that must agree before the object is removed.', plainText),
    managedFields: array('Which manager set which fields, for server-side apply.', ref('ManagedFieldsEntry')),
  }),
  OwnerReference: object(
    'Names an object that another depends on, in the same namespace or the cluster.',
    {
      apiVersion: string('Group and version of the owner.'),
      kind: string('Kind of the owner.'),
      name: string('Name of the owner.'),
      uid: string('UID of the owner.'),
      controller: boolean('Whether the owner is the controller that manages the object.'),
      blockOwnerDeletion: boolean(
        'Whether a foreground deletion of the owner waits until this object is gone.',
      ),
    },
    ['apiVersion', 'kind', 'name', 'uid'],
  ),
  ManagedFieldsEntry: object('The fields that one manager has set.', {
    manager: string('Name of the manager.'),
    operation: string('How the fields were set: Apply or Update.'),
    apiVersion: string('Version of the API that the fields are named in.'),
    time: time('When the manager last changed the set.'),
    fieldsType: string('Format of fieldsV1: always FieldsV1.'),
    fieldsV1: anyObject('The fields, as a tree of names.'),
    subresource: string('Subresource through which the fields were set, or empty.'),
  }),
  ListMeta: object('Metadata of a list.', {
    selfLink: string('No longer filled in by kube-apiserver.'),
    resourceVersion: string('Version of the state that the list shows; a watch from here misses nothing.'),
    continue: string('Token with which the next chunk of the list is asked for; empty at the end.'),
    remainingItemCount: integer(
      'Number of items after this chunk; not given when a selector is used.',
      'int64',
    ),
  }),
  Status: object('Answer to a request that failed.', {
    ...typeMeta,
    metadata: ref('ListMeta', 'Metadata of the answer.'),
    status: string('Success or Failure.'),
    message: string('Why, for people.'),
    reason: string('Why, in one word for programs.'),
    details: ref('StatusDetails', 'What it was about.'),
    code: integer('HTTP status code.', 'int32'),
  }),
  StatusDetails: object('What a failure is about.', {
    name: string('Name of the object.'),
    group: string('Group of the resource.'),
    kind: string('Resource, or kind, of the object.'),
    uid: string('UID of the object.'),
    causes: array('The single causes.', ref('StatusCause')),
    retryAfterSeconds: integer('Seconds after which the request may be tried again.', 'int32'),
  }),
  StatusCause: object('One cause of a failure.', {
    reason: string('Cause, in one word for programs.'),
    message: string('Cause, for people.'),
    field: string('Path of the field that caused it.'),
  }),
  WatchEvent: object(
    'One event of a watch.',
    {
      type: string('ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.'),
      object: anyObject(
        'The object as it is now, or was when it was deleted; for ERROR a Status, for BOOKMARK an object with nothing but a resourceVersion.',
      ),
    },
    ['type', 'object'],
  ),
}
