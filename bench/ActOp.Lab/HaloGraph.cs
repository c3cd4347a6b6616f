namespace ActOp.Lab;

/// <summary>
/// The Halo presence graph (paper section 3): games of 8 players, each player talks with its game. Vertices 0 to players - 1 are players,
/// the games follow. Churn: whole games end and their players meet in new ones.
/// </summary>
internal sealed class HaloGraph(int players, int seed)
{
    public const int GameSize = 8;

    private readonly Random _random = new(seed);
    private readonly int[] _seats = Shuffled(players, new Random(seed + 1));

    public int Players => players;

    public int Games => players / GameSize;

    public int VertexCount => players + Games;

    /// <summary>All edges now.</summary>
    public IEnumerable<(int Player, int Game)> Edges()
    {
        for (int seat = 0; seat < Games * GameSize; seat++)
            yield return (_seats[seat], players + (seat / GameSize));
    }

    /// <summary>Regroups the players of a share of the games.</summary>
    public void Churn(double share)
    {
        int count = (int)(share * Games);
        int[] games = new int[count];
        for (int i = 0; i < count; i++)
            games[i] = _random.Next(Games);
        for (int i = 0; i < count * GameSize; i++)
        {
            int a = (games[i / GameSize] * GameSize) + (i % GameSize);
            int b = (games[_random.Next(count)] * GameSize) + _random.Next(GameSize);
            (_seats[a], _seats[b]) = (_seats[b], _seats[a]);
        }
    }

    private static int[] Shuffled(int count, Random random)
    {
        int[] items = [.. Enumerable.Range(0, count)];
        random.Shuffle(items);
        return items;
    }
}
