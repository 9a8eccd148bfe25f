"""What reviewers sent from the web pages."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

BYTES = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table, and an index of the times of verdicts."""
    op.create_index("verdict_time", "verdict", ["time"])
    account = sa.Column("account_id", sa.Integer(), sa.ForeignKey("account.id"), primary_key=True, autoincrement=False)
    event = sa.Column("event", BYTES, primary_key=True)
    op.create_table("reviewed", account, event, sa.Column("time", BYTES, nullable=False), sqlite_with_rowid=False)


def downgrade() -> None:
    """Refuse: going back would lose what was stored."""
    raise NotImplementedError("what people did would be lost")
