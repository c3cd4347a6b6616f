using System.Net;
using System.Net.Sockets;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;

namespace ActOp.Peers.Shapes;

/// <summary>Where a silo listens.</summary>
/// <param name="Port">For other silos.</param>
/// <param name="Gateway">For clients.</param>
/// <param name="Primary">Port of the first silo of the cluster.</param>
/// <param name="MayMove">Whether the runtime may move grains; calls between two silos are measured where they are.</param>
public sealed record PeerPorts(int Port, int Gateway, int Primary, bool MayMove)
{
    /// <summary>The address of this machine.</summary>
    public const string Loopback = "127.0.0.1";

    /// <summary>The address of the silo.</summary>
    public string Host { get; init; } = Loopback;

    /// <summary>The address of the first silo of the cluster.</summary>
    public string PrimaryHost { get; init; } = Loopback;

    /// <summary>The database of its grains, for Npgsql; null if they have none.</summary>
    public string? Database { get; init; }

    /// <summary>Whether it is all of its cluster, in the process of the play.</summary>
    public bool IsAlone { get; init; }

    /// <summary>Free ports of this machine.</summary>
    /// <param name="primary">Port of the first silo of the cluster; null if it is to be this one.</param>
    /// <param name="mayMove">Whether the runtime may move grains.</param>
    public static PeerPorts FindFree(int? primary, bool mayMove)
    {
        var free = Ports.FindFree(2);
        return new PeerPorts(free[0], free[1], primary ?? free[0], mayMove);
    }

    /// <summary>Whether it is the first silo of its cluster.</summary>
    public bool IsPrimary => (Host, Port) == (PrimaryHost, Primary);

    /// <summary>Whether all of the cluster is on this machine.</summary>
    public bool IsOnLoopback => (Host, PrimaryHost) == (Loopback, Loopback);

    /// <summary>The address by which a silo reaches this machine: that from which the silo is reached.</summary>
    public string OwnHost()
    {
        using var way = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        way.Connect(IPAddress.Parse(Host), Port);
        return ((IPEndPoint)way.LocalEndPoint!).Address.ToString();
    }
}

/// <summary>A runtime as the shapes see it. Each of its nodes is in a process of its own, or in that of the load.</summary>
public interface IPeerRuntime
{
    /// <summary>Starts a silo in this process.</summary>
    Task<IPeerNode> StartSiloAsync(PeerPorts ports);

    /// <summary>Starts a client of a cluster in this process.</summary>
    /// <param name="silos">Where the silos listen.</param>
    Task<IPeerNode> StartClientAsync(IReadOnlyList<PeerPorts> silos);
}

/// <summary>One node of a runtime. What a runtime has besides is an interface of its own: a shape asks whether the node has it.</summary>
public interface IPeerNode : IAsyncDisposable
{
    /// <summary>The method of an echo grain that answers with its argument and 1; the grain begins with its first call.</summary>
    Func<int, ValueTask<int>> EchoOf(long key);

    /// <summary>One grain calls another, one call after the other.</summary>
    /// <param name="caller">The grain that calls.</param>
    /// <param name="callee">The grain that answers.</param>
    /// <param name="milliseconds">For so long.</param>
    /// <param name="isTimed">Whether each call is timed.</param>
    Task<CallTimes> LoopAsync(long caller, long callee, int milliseconds, bool isTimed);

    /// <summary>The silo of an echo grain.</summary>
    Task<string> WhereAsync(long key);
}

/// <summary>Grains that have timers, in a silo of this process.</summary>
public interface ITimerPeer
{
    /// <summary>Starts a timer of each of <paramref name="count"/> grains.</summary>
    Task StartTimersAsync(int count, TimeSpan period);

    /// <summary>Ticks of all of them so far.</summary>
    long Ticks { get; }
}

/// <summary>A grain that tells observers, which are in this process; the grain is in a silo of another one.</summary>
public interface IObserverPeer
{
    /// <summary>Subscribes <paramref name="count"/> observers to one grain.</summary>
    Task SubscribeAsync(int count, Action notified);

    /// <summary>The grain notifies all of them.</summary>
    Task NotifyAsync();
}

/// <summary>Streams in memory between grains, in a silo of this process.</summary>
public interface IStreamPeer
{
    /// <summary>Lets a grain produce <paramref name="items"/> items to a stream that another grain has subscribed to.</summary>
    Task ProduceAsync(int stream, int items);

    /// <summary>Subscribes the consumer of a stream.</summary>
    Task SubscribeAsync(int stream);

    /// <summary>Items that all consumers have got.</summary>
    long Items { get; }
}

/// <summary>A runtime whose grains can have their state in PostgreSQL.</summary>
public interface IStateRuntime : IPeerRuntime
{
    /// <summary>Makes the tables, if the runtime does not do so itself.</summary>
    /// <param name="database">For Npgsql.</param>
    Task PrepareAsync(string database);
}

/// <summary>Grains with a state in a database, in a silo of this process.</summary>
public interface IStatePeer
{
    /// <summary>The method of a grain that changes its state and writes it.</summary>
    Func<int, ValueTask<int>> WriterOf(long key);
}

/// <summary>Grains that keep a thread for some time.</summary>
public interface IHeartbeatPeer
{
    /// <summary>The method of a monitor grain: notes a beat, and keeps its thread for so many milliseconds.</summary>
    Func<int, ValueTask> BeatOf(long key);
}

/// <summary>The grains of Halo Presence.</summary>
public interface IHaloPeer
{
    /// <summary>Asks for the status of a player and of those in its game; true if it is in one.</summary>
    ValueTask<bool> RequestStatusAsync(long player);

    /// <summary>A new game begins with these players.</summary>
    Task StartGameAsync(long game, long[] players);

    /// <summary>A game is over.</summary>
    Task EndGameAsync(long game);

    /// <summary>A player has left the system.</summary>
    Task DepartAsync(long player);

    /// <summary>Whether a player and its game are on different silos.</summary>
    Task<bool> IsRemoteAsync(long player, long game);
}
