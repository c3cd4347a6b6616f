namespace ActOp.Partitioning;

/// <summary>Tells the partner of an exchange how the migration of one vertex ended. It may be lost: the partner then waits until
/// <see cref="PartitioningOptions.MigrationTimeout"/>.</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
/// <param name="Id">The exchange.</param>
/// <param name="Vertex">The vertex.</param>
/// <param name="Moved">False if it was busy or gone and stays.</param>
public readonly record struct MoveReport<TVertex>(ExchangeId Id, TVertex Vertex, bool Moved)
    where TVertex : notnull, IEquatable<TVertex>;
