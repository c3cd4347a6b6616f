using Orleans.Runtime;

namespace Orleans;

/// <summary>Marks the interface of a grain.</summary>
public interface IGrain : IAddressable
{
}

/// <summary>Marks a grain whose key is text.</summary>
public interface IGrainWithStringKey : IGrain
{
}

/// <summary>Marks a grain whose key is a 64-bit number.</summary>
public interface IGrainWithIntegerKey : IGrain
{
}

/// <summary>Marks a grain whose key is a <see cref="Guid"/>.</summary>
public interface IGrainWithGuidKey : IGrain
{
}

/// <summary>Marks a grain whose key is a 64-bit number and a text.</summary>
public interface IGrainWithIntegerCompoundKey : IGrain
{
}

/// <summary>Marks a grain whose key is a <see cref="Guid"/> and a text.</summary>
public interface IGrainWithGuidCompoundKey : IGrain
{
}

/// <summary>Marks the interface of a part of the runtime that can be called like a grain and exists once per silo.</summary>
public interface ISystemTarget : IAddressable
{
}

/// <summary>Marks the interface of an object outside of the grains that grains can call.</summary>
public interface IGrainObserver : IAddressable
{
}
