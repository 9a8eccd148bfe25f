"""Run by Alembic: applies the versions that are missing to the connection that `migrate` gives."""

from alembic import context

from resit.store.layout import metadata
from resit.store.migrate import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
