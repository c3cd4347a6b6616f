namespace ActOp.Bench.Grains;

/// <summary>A message of ordinary size: ten fields of mixed types.</summary>
[GenerateSerializer]
public sealed class TenFields
{
    [Id(0)] public int Count { get; set; } = 42;

    [Id(1)] public long Total { get; set; } = 1_234_567_890_123;

    [Id(2)] public double Mean { get; set; } = 3.14159;

    [Id(3)] public bool IsOpen { get; set; } = true;

    [Id(4)] public string Name { get; set; } = "a player of some game";

    [Id(5)] public Guid Session { get; set; } = new(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);

    [Id(6)] public DateTime Since { get; set; } = new(2026, 1, 2, 3, 4, 5, DateTimeKind.Utc);

    [Id(7)] public int[] Scores { get; set; } = [1, 2, 3, 4, 5, 6, 7, 8];

    [Id(8)] public string? Note { get; set; }

    [Id(9)] public TimeSpan Age { get; set; } = TimeSpan.FromHours(7);
}
