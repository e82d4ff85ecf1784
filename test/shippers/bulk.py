# Sends documents by the bulk helper, and the last ten one by one: bulk.py <url> <namespace> <count>,
# with CA and TOKEN in the environment.
import datetime
import os
import sys

import elasticsearch
from elasticsearch import helpers

url, namespace, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
headers = {'authorization': f"Bearer {os.environ['TOKEN']}"}
client = elasticsearch.Elasticsearch([url], ca_certs=os.environ['CA'], headers=headers)
now = datetime.datetime.now(datetime.timezone.utc)


def document(i):
    return {
        '@timestamp': (now + datetime.timedelta(microseconds=i)).isoformat(),
        'message': f'line {i}',
        'i': i,
        'level': 'info',
        'ok': True,
        'ratio': 0.5,
        'http': {'status': 503},
        'tags': ['a', 'b'],
        'kubernetes': {'namespace': namespace, 'pod': {'name': 'py-0'}},
    }


def action(i):
    return {'_index': 'logs', '_op_type': 'create', '_source': document(i)}


alone = 10
taken, failed = helpers.bulk(client, (action(i) for i in range(count - alone)), chunk_size=500)
argument = 'body' if elasticsearch.__version__[0] == 7 else 'document'
for i in range(count - alone, count):
    if client.index(index='logs', **{argument: document(i)})['result'] == 'created':
        taken += 1
print('.'.join(map(str, elasticsearch.__version__)), taken, failed)
