using ActOp.PostgreSql.Schema;

namespace ActOp.PostgreSql.Membership;

/// <summary>The database of clustering, apart from those of other parts of the same node. Owns it; disposed with the container.</summary>
internal sealed class MembershipDatabase(Database database) : IAsyncDisposable
{
    /// <summary>There is one request at a time; a second connection serves while a broken one is being closed.</summary>
    internal const int Connections = 3;

    internal Database Database => database;

    public ValueTask DisposeAsync() => database.DisposeAsync();
}
