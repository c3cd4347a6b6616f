using Orleans.CodeGeneration;

namespace ActOp.Upgrade;

/// <summary>An account. The second build adds a method.</summary>
#if BUILD2
[Version(2)]
#else
[Version(1)]
#endif
public interface IAccountGrain : IGrainWithIntegerKey
{
    /// <summary>Books an amount.</summary>
    Task<Balance> Book(Booking booking);

    /// <summary>The balance, and where the account is.</summary>
    ValueTask<Balance> Read();

#if BUILD2
    /// <summary>Books several items, some of which may be of a type that the first build does not have.</summary>
    Task<int> BookAll(Item[] items);
#endif
}

/// <summary>What an account does.</summary>
public enum BookingKind
{
    /// <summary>The usual one.</summary>
    Plain,

    /// <summary>Taken back.</summary>
    Refund,

#if BUILD2
    /// <summary>New in the second build.</summary>
    Gift,
#endif
}

/// <summary>One booking. The second build adds a field.</summary>
[GenerateSerializer]
public sealed class Booking
{
    /// <summary>How much.</summary>
    [Id(0)]
    public int Amount { get; set; }

    /// <summary>What for.</summary>
    [Id(1)]
    public BookingKind Kind { get; set; }

#if BUILD2
    /// <summary>New in the second build; null from the first.</summary>
    [Id(2)]
    public string? Note { get; set; }
#endif
}

/// <summary>The state of an account. The second build adds a field.</summary>
[GenerateSerializer]
public sealed class Balance
{
    /// <summary>Silo port of the process that runs the account.</summary>
    [Id(0)]
    public int Port { get; set; }

    /// <summary>The build of that process.</summary>
    [Id(1)]
    public int Build { get; set; }

    /// <summary>The kind of the last booking; from the second build it may be a member that the first does not have.</summary>
    [Id(2)]
    public BookingKind Last { get; set; }

#if BUILD2
    /// <summary>New in the second build.</summary>
    [Id(3)]
    public string[] Notes { get; set; } = [];
#endif
}

/// <summary>Something to book. The second build adds a derived type.</summary>
[GenerateSerializer]
public class Item
{
    /// <summary>How much.</summary>
    [Id(0)]
    public int Amount { get; set; }
}

#if BUILD2
/// <summary>New in the second build.</summary>
[GenerateSerializer]
public sealed class GiftItem : Item
{
    /// <summary>For whom.</summary>
    [Id(0)]
    public string For { get; set; } = "";
}

/// <summary>A class and an interface that only the second build has.</summary>
public interface IAuditGrain : IGrainWithIntegerKey
{
    /// <summary>Checks an account by calling it; the build of the process that did.</summary>
    Task<int> Check(long account);
}
#endif
