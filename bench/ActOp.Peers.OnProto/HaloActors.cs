using System.Globalization;
using Google.Protobuf.WellKnownTypes;
using Proto;
using Proto.Cluster;

namespace ActOp.Peers.OnProto;

/// <summary>
/// A player of Halo Presence: in a game, or in none. Asked for its status (nothing), it asks its game, which observes all players (a truth
/// value). A number is the game that it joins, the negative one that which it leaves, 0 the end.
/// </summary>
internal sealed class PlayerActor : IActor
{
    internal const string Kind = "player";
    private long _game;
    private int _views;

    public Task ReceiveAsync(IContext context)
    {
        switch (context.Message)
        {
            case StringValue:
                context.Respond(new StringValue { Value = context.System.Address });
                break;
            case BoolValue:
                context.Respond(new Int32Value { Value = ++_views });
                break;
            case Empty when _game == 0:
                context.Respond(new Int32Value());
                break;
            case Empty:
                // The player takes other messages while its game answers.
                context.ReenterAfter(
                    context.Cluster().RequestAsync<Int32Value>(GameActor.Text(_game), GameActor.Kind, new Empty(), CancellationToken.None),
                    status => context.Respond(status.Result));
                break;
            case Int64Value { Value: var game }:
                _game = game > 0 ? game : game == 0 || _game == -game ? 0 : _game;
                context.Respond(new Int32Value());
                if (game == 0)
                    context.Poison(context.Self);
                break;
        }

        return Task.CompletedTask;
    }
}

/// <summary>
/// A game of Halo Presence. A list begins it with its players, a truth value ends it, and nothing asks for the number of players that it
/// has observed.
/// </summary>
internal sealed class GameActor : IActor
{
    internal const string Kind = "game";
    private string[] _players = [];

    public Task ReceiveAsync(IContext context)
    {
        switch (context.Message)
        {
            case StringValue:
                context.Respond(new StringValue { Value = context.System.Address });
                break;
            case ListValue players:
                _players = [.. players.Values.Select(static player => Text((long)player.NumberValue))];
                Ask(context, new Int64Value { Value = Key(context) }, false);
                break;
            case BoolValue:
                Ask(context, new Int64Value { Value = -Key(context) }, true);
                _players = [];
                break;
            case Empty:
                Ask(context, new BoolValue(), false);
                break;
        }

        return Task.CompletedTask;
    }

    internal static string Text(long key) => key.ToString(CultureInfo.InvariantCulture);

    private static long Key(IContext context) => long.Parse(context.ClusterIdentity()!.Identity, CultureInfo.InvariantCulture);

    /// <summary>Asks all players, and answers with how many have answered; it may be its last deed.</summary>
    private void Ask(IContext context, object message, bool isLast)
    {
        var cluster = context.Cluster();
        var answers = Task.WhenAll(_players.Select(player => cluster.RequestAsync<Int32Value>(
            player, PlayerActor.Kind, message, CancellationToken.None)));
        context.ReenterAfter(answers, all =>
        {
            context.Respond(new Int32Value { Value = all.Result.Length });
            if (isLast)
                context.Poison(context.Self);
        });
    }
}
