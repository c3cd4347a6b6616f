using System.Globalization;
using Akka.Actor;
using Akka.Cluster;
using Akka.Cluster.Sharding;

namespace ActOp.Peers.OnAkka;

/// <summary>A game begins with these players.</summary>
public sealed record StartGame(long[] Players);

/// <summary>
/// A player of Halo Presence: in a game, or in none. Status asks its game, which observes all players. What is sent often are numbers,
/// which Akka writes fastest.
/// </summary>
public sealed class PlayerActor : ReceiveActor
{
    public const string Region = "player";
    public const int Status = 0;
    public const int Observe = 1;
    private long _game;
    private int _views;

    public PlayerActor()
    {
        var (system, games) = (Context.System, ClusterSharding.Get(Context.System).ShardRegion(GameActor.Region));
        Receive<WhereAreYou>(_ => Sender.Tell(Cluster.Get(system).SelfAddress.ToString()));
        Receive<int>(static message => message == Observe, _ => Sender.Tell(++_views));
        Receive<int>(_ =>
        {
            if (_game == 0)
                Sender.Tell(0);
            else
                games.Forward(new ShardingEnvelope(GameActor.Text(_game), GameActor.Status));
        });
        // It joins a game, leaves it (the negative number), or leaves the system.
        Receive<long>(game =>
        {
            if (game > 0)
                _game = game;
            else if (game == 0 || _game == -game)
                _game = 0;
            Sender.Tell(0);
            if (game == 0)
                Context.Parent.Tell(new Passivate(PoisonPill.Instance));
        });
    }
}

/// <summary>A game of Halo Presence. It answers a status with the number of players that it has observed.</summary>
public sealed class GameActor : ReceiveActor
{
    public const string Region = "game";
    public const int Status = 0;
    public const int End = 1;
    private string[] _players = [];

    public GameActor()
    {
        var (system, self) = (Context.System, long.Parse(Self.Path.Name, CultureInfo.InvariantCulture));
        Receive<WhereAreYou>(_ => Sender.Tell(Cluster.Get(system).SelfAddress.ToString()));
        Receive<StartGame>(start =>
        {
            _players = [.. start.Players.Select(Text)];
            TellAllAsync(_players, self).PipeTo(Sender);
        });
        Receive<int>(static message => message == End, _ =>
        {
            TellAllAsync(_players, -self).PipeTo(Sender);
            _players = [];
            Context.Parent.Tell(new Passivate(PoisonPill.Instance));
        });
        Receive<int>(_ => TellAllAsync(_players, PlayerActor.Observe).PipeTo(Sender));

        // The answers of all; how many have come.
        async Task<int> TellAllAsync(string[] players, object message)
        {
            var region = ClusterSharding.Get(system).ShardRegion(PlayerActor.Region);
            return (await Task.WhenAll(players.Select(player => region.Ask<int>(new ShardingEnvelope(player, message))))).Length;
        }
    }

    internal static string Text(long key) => key.ToString(CultureInfo.InvariantCulture);
}
